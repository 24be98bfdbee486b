// RSpec's bisection of a failing seed.
#include <optional>

#include "tests/bench/peers/detectors.hpp"
#include "tests/bench/peers/pass_fail.hpp"

namespace parity {
namespace {

/// Of one order, whose failing tests are always run.
class Bisection {
 public:
  Bisection(PassFail& suite, const Order& order, const std::vector<std::size_t>& failed)
      : suite_(suite), order_(order), needed_(order.size(), true), expected_(order.size(), false) {
    for (const std::size_t position : failed) expected_[position] = true;
  }

  /// Empty where the failures need nothing else.
  bool needs_others() {
    std::vector<bool> none = expected_;
    return !all_fail(none);
  }

  void bisect() {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < order_.size(); ++i)
      if (!expected_[i]) candidates.push_back(i);
    bisect_over(candidates);
  }

  /// What is left, up to this position.
  Order history(std::size_t position) const {
    Order history;
    for (std::size_t i = 0; i < position; ++i)
      if (needed_[i]) history.push_back(order_[i]);
    return history;
  }

 private:
  bool all_fail(const std::vector<bool>& included) {
    Order order;
    std::vector<bool> expected;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (!included[i]) continue;
      order.push_back(order_[i]);
      expected.push_back(expected_[i]);
    }
    const std::vector<Sight> sights = suite_.run(order);
    for (std::size_t i = 0; i < sights.size(); ++i)
      if (expected[i] && sights[i] != Sight::failed) return false;
    return true;
  }

  bool drop(const std::vector<std::size_t>& positions) {
    std::vector<bool> included = needed_;
    for (const std::size_t position : positions) included[position] = false;
    if (!all_fail(included)) return false;
    needed_ = std::move(included);
    return true;
  }

  void bisect_over(const std::vector<std::size_t>& candidates) {
    if (candidates.size() <= 1) return;
    const auto middle =
        candidates.begin() + static_cast<std::ptrdiff_t>((candidates.size() + 1) / 2);
    const std::vector<std::size_t> left(candidates.begin(), middle);
    const std::vector<std::size_t> right(middle, candidates.end());
    if (drop(left)) return bisect_over(right);
    if (drop(right)) return bisect_over(left);
    bisect_over(left);
    bisect_over(right);
  }

  PassFail& suite_;
  const Order& order_;
  std::vector<bool> needed_;
  std::vector<bool> expected_;
};

class RSpecBisect final : public Detector {
 public:
  std::string_view name() const override { return "RSpec bisect"; }

  Detection run(Lab& lab) const override {
    PassFail suite(lab);
    Detection detection;
    std::optional<Claim> seen;
    for (std::size_t round = 0; suite.another_round(); ++round) {
      const Order order = suite.shuffled(round);
      const std::vector<std::size_t> first = failures(suite.run(order));
      if (first.empty()) continue;
      if (!seen) {
        detection.detected = lab.meter.spent();
        seen = Claim{Word::failed, order[first.front()], before(order, first.front())};
      }
      // --bisect begins by running the seed again.
      const std::vector<std::size_t> failed = failures(suite.run(order));
      if (failed.empty()) continue;
      Bisection bisection(suite, order, failed);
      const bool needs_others = bisection.needs_others();
      if (needs_others) bisection.bisect();
      for (const std::size_t position : failed)
        detection.claims.push_back({needs_others ? Word::order_dependent : Word::failed,
                                    order[position],
                                    needs_others ? bisection.history(position) : Order{}});
      break;
    }
    if (detection.claims.empty() && seen) detection.claims.push_back(*seen);
    detection.settled = lab.meter.spent() - detection.detected;
    return detection;
  }
};

}  // namespace

std::unique_ptr<Detector> rspec_bisect() {
  return std::make_unique<RSpecBisect>();
}

}  // namespace parity
