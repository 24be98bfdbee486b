// A night whose steps are stopped while they run: by its budget, by Ctrl-C.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/nightly_fixture.hpp"

namespace parity::test {
namespace {

class NightlyStopTest : public NightlyTest {
 protected:
  std::filesystem::path out() const { return scratch_.path() / "out"; }
  /// Of a night that is stopped once its first step runs, and for whatever reason.
  void ends_without_a_verdict(Background& night_process, Descriptor held,
                              const std::string& reason) {
    ASSERT_TRUE(wait_until([&] {
      return night_process.out().find("   stopping: " + reason) != std::string::npos;
    })) << night_process.out();
    held.reset();
    EXPECT_EQ(night_process.end(), 5) << night_process.out();
    EXPECT_EQ(exit_codes(), (std::vector{5, 5})) << night_process.out();
    const std::string said = steps().at(0).at("said");
    EXPECT_TRUE(said.starts_with(reason + "; harness: interrupted when 1 of 2 cases")) << said;
    EXPECT_EQ(steps().at(1).at("said"), "not run: " + reason);
    EXPECT_EQ(resumed().exit_code, 0);
    EXPECT_EQ(exit_codes(), (std::vector{0, 0}));
  }
};

TEST_F(NightlyStopTest, ABudgetStopsTheStepThatRuns) {
  const std::string arguments = words("--only smoke,golden --budget 1s" + golden() + kTwoCases);
  Descriptor held = runs_held_up();
  Background process(home(), arguments, out());
  ends_without_a_verdict(process, std::move(held), "the budget is spent");
}

TEST_F(NightlyStopTest, CtrlCStopsTheStepThatRuns) {
  const std::string arguments = words("--only smoke,golden" + golden() + kTwoCases);
  Descriptor held = runs_held_up();
  Background process(home(), arguments, out());
  ASSERT_TRUE(wait_until([&] { return writer_of(night() / "smoke.txt").has_value(); }));
  process.interrupt();
  ends_without_a_verdict(process, std::move(held), "stopped");
}

}  // namespace
}  // namespace parity::test
