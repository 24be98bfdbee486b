// GoogleTest's shuffled repeats.
#include "tests/bench/peers/detectors.hpp"
#include "tests/bench/peers/pass_fail.hpp"

namespace parity {
namespace {

constexpr std::size_t kRepeat = 10;

class GTestShuffle final : public Detector {
 public:
  std::string_view name() const override { return "GoogleTest shuffle"; }

  Detection run(Lab& lab) const override {
    PassFail suite(lab);
    const std::size_t cases = lab.cases.size();
    for (std::size_t round = 0; suite.another_round(); round += kRepeat) {
      Order process;
      for (std::size_t i = 0; i < kRepeat && process.size() + cases <= lab.meter.left(); ++i) {
        const Order order = suite.shuffled(round + i);
        process.insert(process.end(), order.begin(), order.end());
      }
      const Cost before_process = lab.meter.spent();
      const std::vector<std::size_t> failed = failures(suite.run(process));
      if (failed.empty()) continue;
      return claim(process, failed, cases, before_process);
    }
    return {};
  }

 private:
  /// The first round with a failure; the seed runs that round alone.
  static Detection claim(const Order& process, const std::vector<std::size_t>& failed,
                         std::size_t cases, Cost spent) {
    const std::size_t begin = failed.front() / cases * cases;
    Detection detection;
    detection.detected = {spent.executions + begin + cases, spent.starts + 1};
    for (const std::size_t position : failed) {
      if (position >= begin + cases) break;
      Claim claim;
      claim.victim = process[position];
      claim.history.assign(process.begin() + static_cast<std::ptrdiff_t>(begin),
                           process.begin() + static_cast<std::ptrdiff_t>(position));
      detection.claims.push_back(std::move(claim));
    }
    return detection;
  }
};

}  // namespace

std::unique_ptr<Detector> gtest_shuffle() {
  return std::make_unique<GTestShuffle>();
}

}  // namespace parity
