// The autotune memo: one measurement a key, what it says it touched, and that it can be read,
// restored and set.
#include "device/autotune.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/fake_device.hpp"
#include "tests/tuning_sample.hpp"

namespace parity {
namespace {

using test::differing_tuning_keys;
using test::sample_tuning_key;
using test::with_dtype;

/// Likes the last candidate best; counts.
class CountingClock final : public TuningClock {
 public:
  double time(const TuningKey&, const TunedPlan& plan) const override {
    std::this_thread::sleep_for(delay);
    if (fails) throw DeviceError("the launch failed");
    ++asked[plan.tile == 8 && plan.pages_per_chunk == 1 ? 1 : 0];
    return static_cast<double>(plan.pages_per_chunk) / static_cast<double>(plan.tile);
  }

  std::chrono::milliseconds delay{0};
  bool fails = false;
  mutable std::atomic<int> asked[2] = {0, 0};  ///< of others, of the best
};

constexpr TunedPlan kBest{1, 8};

class AutotuneMemoTest : public testing::Test {
 protected:
  TunedPlan choose(AutotuneMemo& memo, const TuningKey& key, const std::string& run) {
    trace_.begin(run);
    return memo.choose(key, clock_, trace_);
  }
  CellTouch last_touch() {
    const std::vector<CellTouch> touches = trace_.take();
    EXPECT_EQ(touches.size(), 1u);
    return touches.empty() ? CellTouch{} : touches.front();
  }

  const TuningKey key_ = sample_tuning_key();
  CountingClock clock_;
  Trace trace_;
  AutotuneMemo memo_{Faults{}};
};

TEST_F(AutotuneMemoTest, TakesTheFastestCandidateAndKeepsIt) {
  EXPECT_EQ(choose(memo_, key_, "a"), kBest);
  EXPECT_EQ(choose(memo_, key_, "b"), kBest);
  EXPECT_EQ(clock_.asked[0], static_cast<int>(tuning_candidates(key_).size()) - 1);
  EXPECT_EQ(clock_.asked[1], 1);
}

TEST_F(AutotuneMemoTest, EveryFieldOfTheKeyAloneMakesAnEntryOfItsOwn) {
  choose(memo_, key_, "a");
  std::set<std::string> cells = {last_touch().cell};
  for (const auto& [field, key] : differing_tuning_keys()) {
    choose(memo_, key, "b");
    const CellTouch touch = last_touch();
    EXPECT_TRUE(touch.wrote) << field;
    EXPECT_TRUE(cells.insert(touch.cell).second) << field;
  }
  EXPECT_EQ(memo_.snapshot().size(), cells.size());
}

TEST_F(AutotuneMemoTest, TouchesSayWhatTheEntryWasMadeForAndByWhom) {
  const std::string words = "q=f16,out=f16,k=f16,v=f16,page=16";
  choose(memo_, key_, "a");
  EXPECT_EQ(last_touch(), (CellTouch{"autotune_memo", key_.canonical(), true, words, words, "a"}));
  choose(memo_, key_, "b");
  EXPECT_EQ(last_touch(), (CellTouch{"autotune_memo", key_.canonical(), false, words, words, "a"}));
}

TEST_F(AutotuneMemoTest, AFailureIsNotRemembered) {
  clock_.fails = true;
  EXPECT_THROW(choose(memo_, key_, "a"), DeviceError);
  EXPECT_TRUE(memo_.snapshot().empty());
  clock_.fails = false;
  EXPECT_EQ(choose(memo_, key_, "b"), kBest);
}

TEST_F(AutotuneMemoTest, ThreadsTuneAKeyOnce) {
  clock_.delay = std::chrono::milliseconds(2);
  std::atomic<int> wrote = 0;
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] {
        Trace trace;
        wrong += memo_.choose(key_, clock_, trace) != kBest;
        wrote += trace.take().front().wrote;
      });
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(wrote, 1);
  EXPECT_EQ(clock_.asked[1], 1);
}

TEST_F(AutotuneMemoTest, RestoreForgetsAndSetMakesExactlyWhatASnapshotSaw) {
  choose(memo_, key_, "a");
  const std::vector<CellState> seen = memo_.snapshot();
  EXPECT_EQ(seen, (std::vector<CellState>{{key_.canonical(), key_.canonical() + " ppc=1,tile=8"}}));
  memo_.restore();
  EXPECT_TRUE(memo_.snapshot().empty());
  AutotuneMemo other{Faults{}};
  choose(other, with_dtype(key_, 2, Dtype::f32), "b");
  other.set({{key_.canonical(), key_.canonical() + " ppc=2,tile=4"}});
  EXPECT_EQ(other.snapshot().size(), 1u);
  EXPECT_EQ(choose(other, key_, "c"), (TunedPlan{2, 4}));
  EXPECT_EQ(last_touch().writer, "");
}

TEST_F(AutotuneMemoTest, WhatCannotBeSetIsRefusedAndChangesNothing) {
  choose(memo_, key_, "a");
  const std::vector<CellState> before = memo_.snapshot();
  const std::string cell = key_.canonical();
  for (const CellState& bad :
       std::vector<CellState>{{cell, ""},
                              {cell, cell},
                              {cell, cell + " ppc=0,tile=8"},
                              {cell, cell + " ppc=3,tile=8"},
                              {cell, cell + " ppc=1,tile=16"},
                              {cell, with_dtype(key_, 3, Dtype::f32).canonical() + " ppc=1,tile=8"},
                              {"other", cell + " ppc=1,tile=8"}}) {
    EXPECT_THROW(memo_.set({before.front(), bad}), UsageError) << bad.content;
    EXPECT_EQ(memo_.snapshot(), before);
  }
}

TEST_F(AutotuneMemoTest, PlantedMemosHandOneKeysPlanToAnother) {
  const TuningKey other_dtype = with_dtype(key_, 2, Dtype::f32);
  TuningKey other_page = key_;
  other_page.page_size = 8;
  AutotuneMemo dtypes{Faults{.memo_without_dtype = true}};
  AutotuneMemo pages{Faults{.memo_without_page_size = true}};
  for (const auto& [memo, struck, well] :
       {std::tuple{&dtypes, other_dtype, other_page}, {&pages, other_page, other_dtype}}) {
    choose(*memo, key_, "a");
    choose(*memo, struck, "b");
    const CellTouch touch = last_touch();
    EXPECT_FALSE(touch.wrote);
    EXPECT_NE(touch.built_for, touch.used_for);
    EXPECT_EQ(touch.writer, "a");
    choose(*memo, well, "c");
    EXPECT_TRUE(last_touch().wrote);
    AutotuneMemo again{memo == &dtypes ? Faults{.memo_without_dtype = true}
                                       : Faults{.memo_without_page_size = true}};
    again.set(memo->snapshot());
    EXPECT_EQ(again.snapshot(), memo->snapshot());
  }
}

TEST(LiveClockTest, RunsACandidateAndTakesTheLeastTime) {
  struct Watch final : Stopwatch {
    explicit Watch(int& count) : count_(count) {}
    void start() override {}
    void stop() override {}
    double seconds() override { return 10 - ++count_; }
    int& count_;
  };
  struct Timed final : FakeBackend {
    std::unique_ptr<Stopwatch> stopwatch() override { return std::make_unique<Watch>(timed); }
    int timed = 0;
  } backend;
  int made = 0;
  int launched = 0;
  const LiveClock clock(backend, [&](const TunedPlan& plan) {
    EXPECT_EQ(plan, kBest);
    ++made;
    return [&] { ++launched; };
  });
  EXPECT_EQ(clock.time(sample_tuning_key(), kBest), 7);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(backend.timed, 3);
  EXPECT_EQ(launched, 4) << "one that is not timed goes before";
}

}  // namespace
}  // namespace parity
