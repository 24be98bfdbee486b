// What a run that was cut off finds again in its journal, and what a supervisor does with it.
#include "harness/journal.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "datasets/errors.hpp"
#include "harness/orders.hpp"
#include "harness/supervisor.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

Outcome full_outcome() {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.plan = "ppc=4";
  outcome.timed_plan = true;
  outcome.outputs = {{"out", digest("a")}, {"lse", digest("b")}};
  outcome.unwritten = 3;
  outcome.broken_guards = {"out"};
  outcome.changed_inputs = {"q", "k"};
  outcome.cells = {{"module_cache", "v1<64>", true, "q=f32", "q=f16", "a case"},
                   {"autotune_memo", "p", false, "", "", ""}};
  return outcome;
}

Outcome ended(Status status, const std::string& detail) {
  Outcome outcome;
  outcome.status = status;
  outcome.detail = detail;
  return outcome;
}

void expect_same(const Outcome& got, const Outcome& want) {
  EXPECT_EQ(got.status, want.status);
  EXPECT_EQ(got.detail, want.detail);
  EXPECT_EQ(got.plan, want.plan);
  EXPECT_EQ(got.timed_plan, want.timed_plan);
  EXPECT_EQ(got.outputs, want.outputs);
  EXPECT_EQ(got.unwritten, want.unwritten);
  EXPECT_EQ(got.broken_guards, want.broken_guards);
  EXPECT_EQ(got.changed_inputs, want.changed_inputs);
  EXPECT_EQ(got.cells, want.cells);
}

class JournalTest : public testing::Test {
 protected:
  fs::path path() const { return folder_.path() / "journal"; }
  Journal begin() { return Journal(path(), head_, complain()); }
  Journal go_on() { return Journal(path(), complain()); }
  Journal::Complain complain() {
    return [this](const std::string& line) { complaints_.push_back(line); };
  }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(path()).rdbuf();
    return out.str();
  }
  void overwrite(const std::string& text) const { std::ofstream(path()) << text; }
  /// A head and two entries, of sequences {0} and {1}.
  void write_two() {
    Journal journal = begin();
    for (const std::size_t c : {std::size_t{0}, std::size_t{1}})
      journal.append(journal.next(Sequence::of(Order{c})), {{{full_outcome()}, {}}, ""});
  }
  /// Which of the two the journal still holds.
  std::pair<bool, bool> held(Journal journal) const {
    return {journal.take(journal.next(Sequence::of(Order{0}))).has_value(),
            journal.take(journal.next(Sequence::of(Order{1}))).has_value()};
  }

  TemporaryFolder folder_;
  std::vector<std::string> complaints_;
  const JournalHead head_{{"bin/harness", "--filter", "*'x y'*"},
                          "/there",
                          "build",
                          "pack.h5",
                          "w",
                          "host",
                          "cpu",
                          "x86_64",
                          "1.2"};
};

TEST_F(JournalTest, HoldsHeadAndResultsToTheLastField) {
  Sequence sequence = Sequence::of(Order{4, 2}, 1, 2);
  sequence.steps.push_back(Step::snapshot("rng"));
  JournalEntry entry;
  entry.result.outcomes = {full_outcome(), ended(Status::crashed, "signal 6"), Outcome{}};
  entry.result.snapshots = {{"rng", "state of \"rng\"\n"}};
  entry.bad_end = "the worker ended badly";
  {
    Journal journal = begin();
    journal.append(journal.next(sequence), entry);
  }
  Journal journal = go_on();
  EXPECT_EQ(journal.head(), head_);
  const std::optional<JournalEntry> got = journal.take(journal.next(sequence));
  ASSERT_TRUE(got.has_value());
  ASSERT_EQ(got->result.outcomes.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    expect_same(got->result.outcomes[i], entry.result.outcomes[i]);
  ASSERT_EQ(got->result.snapshots.size(), 1u);
  EXPECT_EQ(got->result.snapshots[0].carrier, "rng");
  EXPECT_EQ(got->result.snapshots[0].state, "state of \"rng\"\n");
  EXPECT_EQ(got->bad_end, entry.bad_end);
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(JournalTest, TheNthAskForASequenceHasTheNthResult) {
  const Sequence sequence = Sequence::of(Order{7});
  {
    Journal journal = begin();
    const Journal::Place first = journal.next(sequence);
    const Journal::Place second = journal.next(sequence);
    // The second ended; the first was cut off.
    journal.append(second, {{{ended(Status::error, "second")}, {}}, ""});
    EXPECT_NE(first, second);
  }
  Journal journal = go_on();
  EXPECT_FALSE(journal.take(journal.next(sequence)).has_value());
  const auto second = journal.take(journal.next(sequence));
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->result.outcomes[0].detail, "second");
  EXPECT_FALSE(journal.take(journal.next(sequence)).has_value());
}

TEST_F(JournalTest, OfOnePlaceTheLaterResultCounts) {
  const Sequence sequence = Sequence::of(Order{7});
  Journal first = begin();
  const Journal::Place place = first.next(sequence);
  first.append(place, {{{ended(Status::error, "lost")}, {}}, ""});
  first.append(place, {{{ended(Status::error, "again")}, {}}, ""});
  Journal journal = go_on();
  EXPECT_EQ(journal.take(journal.next(sequence))->result.outcomes[0].detail, "again");
}

TEST_F(JournalTest, SequencesDifferInStepsPoisonAndThreads) {
  Sequence set = Sequence::of(Order{1});
  set.steps.insert(set.steps.begin(), Step::set("rng", "a"));
  Sequence other_state = set;
  other_state.steps[0].state = "b";
  Journal journal = begin();
  std::set<Journal::Place> places;
  for (const Sequence& sequence :
       {Sequence::of(Order{1}), Sequence::of(Order{2}), Sequence::of(Order{1, 2}),
        Sequence::of(Order{1}, 1), Sequence::of(Order{1}, 0, 2), set, other_state})
    places.insert(journal.next(sequence));
  EXPECT_EQ(places.size(), 7u);
}

TEST_F(JournalTest, ACutOffLineIsDroppedAndWrittenAgain) {
  write_two();
  const std::string whole = text();
  for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, std::size_t{40}}) {
    overwrite(whole.substr(0, whole.size() - cut));
    EXPECT_EQ(held(go_on()), (std::pair{true, false})) << cut;
    Journal journal = go_on();
    (void)journal.next(Sequence::of(Order{0}));
    journal.append(journal.next(Sequence::of(Order{1})), {{{full_outcome()}, {}}, ""});
    EXPECT_EQ(text(), whole) << "the cut line left nothing behind";
  }
}

TEST_F(JournalTest, WhatFollowsADamagedLineRunsAgain) {
  write_two();
  std::string damaged = text();
  damaged[damaged.find("ppc=4")] = 'P';
  overwrite(damaged);
  EXPECT_EQ(held(go_on()), (std::pair{false, false}));
}

TEST_F(JournalTest, WithoutASoundHeadThereIsNoGoingOn) {
  write_two();
  std::string damaged = text();
  damaged[0] = 'x';
  overwrite(damaged);
  EXPECT_THROW(go_on(), DatasetError);
  EXPECT_FALSE(read_journal_state(path()).has_value());
  fs::remove(path());
  EXPECT_THROW(go_on(), DatasetError);
}

TEST_F(JournalTest, OnlyTheLastLineSaysThatNothingIsLeft) {
  write_two();
  EXPECT_FALSE(read_journal_state(path())->ended.has_value());
  const JournalEnd end{true, true, 3};
  go_on().end(end);
  EXPECT_EQ(read_journal_state(path())->ended, end);
  EXPECT_EQ(read_journal_state(path())->head, head_);
  Journal journal = go_on();
  EXPECT_EQ(journal.ended(), end);
  journal.append(journal.next(Sequence::of(Order{5})), {{{full_outcome()}, {}}, ""});
  EXPECT_FALSE(read_journal_state(path())->ended.has_value()) << "it went on: a larger budget";
}

TEST_F(JournalTest, AFullDiskCostsOneComplaint) {
  fs::create_symlink("/dev/full", path());
  Journal journal = begin();
  for (const std::size_t c : {std::size_t{0}, std::size_t{1}})
    journal.append(journal.next(Sequence::of(Order{c})), {{{full_outcome()}, {}}, ""});
  ASSERT_EQ(complaints_.size(), 1u);
  EXPECT_NE(complaints_[0].find("No space left"), std::string::npos) << complaints_[0];
}

/// The fake worker's cases; what it is asked for is counted in its notes.
class JournaledSupervisorTest : public JournalTest {
 protected:
  SupervisorOptions options(Journal& journal) {
    SupervisorOptions out;
    out.command = PARITY_FAKE_WORKER;
    out.hello.modules = folder_.path().string();
    out.hello.backend = "host";
    out.ids = {"fake/plain", "fake/other", "fake/abort", "fake/leaky"};
    out.run_folder = folder_.path() / "run";
    out.jobs = 2;
    out.journal = &journal;
    return out;
  }
  const std::vector<Sequence> plan_ = {Sequence::of(Order{0, 1}), Sequence::of(Order{2, 0}),
                                       Sequence::of(Order{1}), Sequence::of(Order{1})};
};

TEST_F(JournaledSupervisorTest, AnswersAsIfItHadRunAndStartsNothing) {
  Journal first = begin();
  Supervisor ran(options(first));
  const std::vector<SequenceResult> want = ran.execute(plan_);
  Journal second = go_on();
  SupervisorOptions again = options(second);
  again.stop_at = std::chrono::steady_clock::time_point::min();  // nothing may start
  std::size_t runs = 0;
  again.progress = [&](std::size_t, std::size_t, std::size_t, const Outcome&) { ++runs; };
  Supervisor supervisor(again);
  const std::vector<SequenceResult> got = supervisor.execute(plan_);
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t s = 0; s < want.size(); ++s)
    for (std::size_t i = 0; i < want[s].outcomes.size(); ++i)
      expect_same(got[s].outcomes[i], want[s].outcomes[i]);
  EXPECT_EQ(supervisor.executions(), ran.executions());
  EXPECT_EQ(supervisor.executions(), 4u);
  EXPECT_EQ(supervisor.process_starts(), ran.process_starts());
  EXPECT_EQ(runs, 0u);
  EXPECT_EQ(supervisor.execute(plan_)[0].completed(), 0u) << "the next ask is another one";
}

TEST_F(JournaledSupervisorTest, WhatIsLostRunsAgain) {
  Journal first = begin();
  Supervisor(options(first)).execute(plan_);
  Journal second = go_on();
  SupervisorOptions again = options(second);
  again.lost = [](const Sequence& sequence, const SequenceResult& result) {
    return result.whole() && sequence.steps[0].case_index == 0;
  };
  std::size_t runs = 0;
  again.progress = [&](std::size_t, std::size_t, std::size_t, const Outcome&) { ++runs; };
  EXPECT_TRUE(Supervisor(again).execute(plan_)[0].whole());
  EXPECT_EQ(runs, plan_[0].steps.size());
}

TEST_F(JournaledSupervisorTest, ABadEndIsKeptToo) {
  Journal first = begin();
  Supervisor ran(options(first));
  const std::vector<Sequence> plan = {Sequence::of(Order{0}), Sequence::of(Order{3})};
  ran.execute(plan);
  Journal second = go_on();
  Supervisor supervisor(options(second));
  supervisor.execute(plan);
  EXPECT_EQ(supervisor.bad_end(), ran.bad_end());
  EXPECT_NE(ran.bad_end(), "");
}

TEST_F(JournaledSupervisorTest, WhatWasStoppedOnItsWayIsNoResult) {
  std::atomic<bool> interrupted = false;
  Journal first = begin();
  SupervisorOptions stopped = options(first);
  stopped.interrupted = &interrupted;
  stopped.jobs = 1;
  std::size_t runs = 0;
  stopped.progress = [&](std::size_t, std::size_t, std::size_t, const Outcome&) {
    interrupted = ++runs == 3;  // in the second sequence
  };
  const std::vector<Sequence> plan = {Sequence::of(Order{0, 1}), Sequence::of(Order{1, 0, 0})};
  Supervisor cut(stopped);
  EXPECT_EQ(cut.execute(plan)[1].completed(), 1u);
  Journal second = go_on();
  EXPECT_TRUE(second.take(second.next(plan[0])).has_value());
  EXPECT_FALSE(second.take(second.next(plan[1])).has_value());
}

}  // namespace
}  // namespace parity
