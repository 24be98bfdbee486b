// What the watch says of state that runs leave behind, and of whom.
#include "harness/worker_watch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device/environment.hpp"
#include "device/floating_point_environment.hpp"
#include "device/working_directory.hpp"

namespace parity {
namespace {

using Cells = std::vector<CellSeen>;

class Variables final : public Carrier {
 public:
  std::string_view name() const override { return "variables"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override {
    std::vector<CellState> cells;
    for (const auto& [cell, content] : held) cells.push_back({cell, content});
    return cells;
  }
  void restore() override {}
  void set(const std::vector<CellState>&) override {}

  std::map<std::string, std::string> held = {{"b", "1"}};
};

class WorkerWatchTest : public testing::Test {
 protected:
  Cells run(
      const std::string& id, const std::function<void()>& body = [] {}) {
    return together({id}, body).at(0);
  }
  std::vector<Cells> together(
      const std::vector<std::string>& ids, const std::function<void()>& body = [] {}) {
    std::vector<RunRequest> requests;
    for (const std::string& id : ids) requests.push_back({id, 0});
    std::vector<Outcome> outcomes(ids.size());
    watch_.begin();
    body();
    watch_.end(requests, outcomes);
    std::vector<Cells> cells;
    for (const Outcome& outcome : outcomes) cells.push_back(outcome.cells);
    return cells;
  }

  Variables variables_;
  WorkerWatch watch_{{&variables_}};
};

TEST_F(WorkerWatchTest, WhoChangesNothingIsSilent) {
  EXPECT_EQ(run("a"), Cells{});
  EXPECT_EQ(run("a",
                [&] {
                  variables_.held["a"] = "2";
                  variables_.held.erase("a");
                }),
            Cells{});
  EXPECT_EQ(run("b"), Cells{}) << "what was put back is gone";
}

TEST_F(WorkerWatchTest, WhatARunLeavesIsItsOwnAndEveryLaterRunSaysSo) {
  EXPECT_EQ(run("a", [&] { variables_.held["a"] = "2"; }),
            (Cells{{"variables", "a", true, "2", "2", "a"}}));
  const Cells found = {{"variables", "a", false, "2", "unset", "a"}};
  EXPECT_EQ(run("b"), found);
  EXPECT_EQ(run("c"), found);
}

TEST_F(WorkerWatchTest, ChangedAndRemovedCellsAreSeenToo) {
  EXPECT_EQ(run("a",
                [&] {
                  variables_.held = {{"c", "3"}};
                }),
            (Cells{{"variables", "b", true, "unset", "unset", "a"},
                   {"variables", "c", true, "3", "3", "a"}}));
  EXPECT_EQ(run("b", [&] { variables_.held["c"] = "4"; }),
            (Cells{{"variables", "b", false, "unset", "1", "a"},
                   {"variables", "c", false, "3", "unset", "a"},
                   {"variables", "c", true, "4", "4", "b"}}));
  EXPECT_EQ(run("c").back(), (CellSeen{"variables", "c", false, "4", "unset", "b"}));
}

TEST_F(WorkerWatchTest, AfterACleanerThereIsNothingToSay) {
  run("a", [&] { variables_.held["b"] = "2"; });
  EXPECT_EQ(run("cleaner", [&] { variables_.held["b"] = "1"; }),
            (Cells{{"variables", "b", false, "2", "1", "a"},
                   {"variables", "b", true, "1", "1", "cleaner"}}));
  EXPECT_EQ(run("b"), Cells{});
}

TEST_F(WorkerWatchTest, WhatNoRunDidHasNoWriter) {
  run("a", [&] { variables_.held["b"] = "2"; });
  variables_.held["b"] = "3";  // a request to set it
  EXPECT_EQ(run("b"), (Cells{{"variables", "b", false, "3", "1", ""}}));
  variables_.held["b"] = "1";  // and one to restore it
  EXPECT_EQ(run("b"), Cells{});
}

TEST_F(WorkerWatchTest, OfAGroupEachMayHaveDoneIt) {
  const std::vector<Cells> group = together({"a", "b"}, [&] { variables_.held["b"] = "2"; });
  EXPECT_EQ(group[0], (Cells{{"variables", "b", true, "2", "2", "a"}}));
  EXPECT_EQ(group[1], (Cells{{"variables", "b", true, "2", "2", "b"}}));
  EXPECT_EQ(run("c"), (Cells{{"variables", "b", false, "2", "1", "a"},
                             {"variables", "b", false, "2", "1", "b"}}));
}

TEST(WorkerWatchOfAProcessTest, AVariableThatARunLeavesNamesItsWriter) {
  unsetenv("PARITY_TEST_LEFT");
  const Environment environment;
  WorkerWatch watch({&environment});
  const std::vector<RunRequest> polluter = {{"polluter", 0}};
  const std::vector<RunRequest> victim = {{"victim", 0}};
  std::vector<Outcome> outcomes(1);
  watch.begin();
  setenv("PARITY_TEST_LEFT", "1", 1);
  watch.end(polluter, outcomes);
  outcomes = std::vector<Outcome>(1);
  watch.begin();
  watch.end(victim, outcomes);
  unsetenv("PARITY_TEST_LEFT");
  EXPECT_EQ(outcomes[0].cells,
            (Cells{{"environment", "PARITY_TEST_LEFT", false, "1", "unset", "polluter"}}));
}

}  // namespace
}  // namespace parity
