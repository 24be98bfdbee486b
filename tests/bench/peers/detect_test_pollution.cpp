// detect-test-pollution's search for the one polluter.
#include <optional>

#include "tests/bench/peers/detectors.hpp"
#include "tests/bench/peers/pass_fail.hpp"

namespace parity {
namespace {

class DetectTestPollution final : public Detector {
 public:
  std::string_view name() const override { return "detect-test-pollution"; }

  Detection run(Lab& lab) const override {
    PassFail suite(lab);
    Detection detection;
    std::optional<Claim> seen;
    for (std::size_t round = 0; suite.another_round() && detection.claims.empty(); ++round) {
      const Order order = suite.shuffled(round);
      const std::vector<std::size_t> failed = failures(suite.run(order));
      if (failed.empty()) continue;
      const std::size_t victim = order[failed.front()];
      if (!seen) {
        detection.detected = lab.meter.spent();
        seen = Claim{Word::failed, victim, before(order, failed.front())};
      }
      if (suite.fails({}, victim)) {
        detection.claims.push_back({Word::failed, victim, {}});
        break;
      }
      Order others = order;
      std::erase(others, victim);
      if (const auto polluter = bisect(suite, std::move(others), victim))
        detection.claims.push_back({Word::order_dependent, victim, {*polluter}});
    }
    if (detection.claims.empty() && seen) detection.claims.push_back(*seen);
    detection.settled = lab.meter.spent() - detection.detected;
    return detection;
  }

 private:
  /// Nothing where all others do not make it fail, or where what is left does not.
  static std::optional<std::size_t> bisect(PassFail& suite, Order others, std::size_t victim) {
    if (!suite.fails(others, victim)) return std::nullopt;
    while (others.size() > 1) {
      const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
      const Order first(others.begin(), middle);
      if (suite.fails(first, victim))
        others = first;
      else
        others.erase(others.begin(), middle);
    }
    if (!suite.fails(others, victim)) return std::nullopt;
    return others.front();
  }
};

}  // namespace

std::unique_ptr<Detector> detect_test_pollution() {
  return std::make_unique<DetectTestPollution>();
}

}  // namespace parity
