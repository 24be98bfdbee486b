// iDFlakies' classification of flaky tests and iFixFlakies' minimising.
#include <algorithm>
#include <numeric>
#include <optional>

#include "tests/bench/peers/detectors.hpp"
#include "tests/bench/peers/pass_fail.hpp"

namespace parity {
namespace {

class RandomRounds {
 public:
  explicit RandomRounds(Lab& lab) : lab_(lab), suite_(lab), original_(lab.cases.size()) {
    std::iota(original_.begin(), original_.end(), std::size_t{0});
  }

  Detection run() {
    usual_ = suite_.run(original_);
    for (std::size_t round = 0; suite_.another_round() && detection_.claims.empty(); ++round)
      compare(suite_.shuffled(round));
    detection_.settled = lab_.meter.spent() - detection_.detected;
    return std::move(detection_);
  }

 private:
  /// The first test with another result than in the original order.
  void compare(const Order& order) {
    const std::vector<Sight> sights = suite_.run(order);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Sight usual = usual_[order[i]];
      if (sights[i] == usual || sights[i] == Sight::not_run || usual == Sight::not_run) continue;
      if (detection_.detected.executions == 0) detection_.detected = lab_.meter.spent();
      detection_.claims.push_back(classify(order[i], before(order, i), sights[i]));
      return;
    }
  }

  Claim classify(std::size_t test, const Order& history, Sight seen) {
    const Order usual_history = before(original_, test);
    const bool again =
        suite_.last(history, test) == seen && suite_.last(usual_history, test) == usual_[test];
    const Order& failing = seen == Sight::failed ? history : usual_history;
    if (!again) return {Word::flaky, test, failing};
    const Order& passing = seen == Sight::failed ? usual_history : history;
    const bool brittle = suite_.fails({}, test);
    const Order minimal = ddmin(brittle ? passing : failing, [&](const Order& order) {
      return suite_.last(order, test) == (brittle ? Sight::passed : Sight::failed);
    });
    return {Word::order_dependent, test, minimal, brittle ? Role::brittle : Role::victim};
  }

  Lab& lab_;
  PassFail suite_;
  Order original_;
  std::vector<Sight> usual_;  ///< in the original order, by case
  Detection detection_;
};

class IDFlakies final : public Detector {
 public:
  std::string_view name() const override { return "iDFlakies + ddmin"; }
  Detection run(Lab& lab) const override { return RandomRounds(lab).run(); }
};

}  // namespace

std::unique_ptr<Detector> idflakies() {
  return std::make_unique<IDFlakies>();
}

}  // namespace parity
