// Outcomes of whole cases: precedence of symptoms, and that each distinct answer is judged once.
#include "harness/judge.hpp"

#include <gtest/gtest.h>

#include "datasets/errors.hpp"

namespace parity {
namespace {

/// Blobs in memory, and how often they were read.
class FakeBlobs final : public BlobStore {
 public:
  Digest put(const Tensor& tensor) {
    const Digest key = digest(tensor);
    blobs_.insert_or_assign(key, tensor);
    return key;
  }
  Tensor read(const TensorType&, const Digest& digest) const override {
    ++reads;
    const auto found = blobs_.find(digest);
    if (found == blobs_.end()) throw DatasetError("blob " + digest.hex() + " is missing");
    return found->second;
  }

  mutable int reads = 0;

 private:
  std::map<Digest, Tensor> blobs_;
};

PackOutput ones(const std::string& name, std::int64_t elements) {
  Tensor expected(Dtype::f64, {elements});
  for (std::int64_t i = 0; i < elements; ++i) expected.set(i, 1.0);
  return {.name = name,
          .type = {Dtype::f32, {elements}},
          .rule = OutputRule::rows,
          .expected = std::move(expected),
          .bound = Tensor(Dtype::f64, {elements})};
}

class JudgeTest : public ::testing::Test {
 protected:
  static PackCase pack_case(std::vector<PackOutput> outputs) {
    PackCase result;
    result.id = "toy/x=f32/n=4/plain";
    result.outputs = std::move(outputs);
    return result;
  }

  /// An answer with the same value in every element of every output.
  Outcome answer(const PackCase& of, double value) {
    Outcome outcome;
    outcome.status = Status::ok;
    for (const PackOutput& output : of.outputs) {
      Tensor tensor(output.type);
      for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, value);
      outcome.outputs.push_back({output.name, blobs_.put(tensor)});
    }
    return outcome;
  }

  FakeBlobs blobs_;
  const PackCase case_ = pack_case({ones("a", 4), ones("b", 2)});
  Judge judge_{{case_}, blobs_};
};

TEST_F(JudgeTest, RightAnswerPassesAndWrongOneIsAMismatch) {
  const Judgement right = judge_.judge(0, answer(case_, 1.0));
  EXPECT_EQ(right.verdict, Verdict::passed);
  EXPECT_EQ(right.fingerprint, Fingerprint::none);
  const Judgement wrong = judge_.judge(0, answer(case_, 1.5));
  EXPECT_EQ(wrong.verdict, Verdict::failed);
  EXPECT_EQ(wrong.fingerprint, Fingerprint::mismatch);
  EXPECT_NEAR(wrong.error, 0.5, 1e-6);
  EXPECT_EQ(wrong.tolerance, 1e-5);
}

TEST_F(JudgeTest, WorstOutputSpeaksForTheCase) {
  Outcome outcome = answer(case_, 1.0);
  outcome.outputs[1] = answer(case_, 2.0).outputs[1];
  const Judgement judgement = judge_.judge(0, outcome);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_EQ(judgement.detail.find("b["), 0u) << judgement.detail;
}

TEST_F(JudgeTest, EachDistinctAnswerIsJudgedOnce) {
  const Outcome right = answer(case_, 1.0);
  for (int i = 0; i < 3; ++i) judge_.judge(0, right);
  EXPECT_EQ(blobs_.reads, 2);
  judge_.judge(0, answer(case_, 1.5));
  EXPECT_EQ(blobs_.reads, 4);
}

TEST_F(JudgeTest, EqualAnswersOfTwoCasesAreJudgedApart) {
  PackCase other = case_;
  for (PackOutput& output : other.outputs)
    for (std::int64_t i = 0; i < output.expected->elements(); ++i) output.expected->set(i, 2.0);
  Judge judge({case_, other}, blobs_);
  EXPECT_EQ(judge.judge(0, answer(case_, 1.0)).verdict, Verdict::passed);
  EXPECT_EQ(judge.judge(1, answer(case_, 1.0)).verdict, Verdict::failed);
}

TEST_F(JudgeTest, WhatEndedTheRunIsTheVerdict) {
  const std::vector<std::tuple<Status, Verdict, Fingerprint>> expected = {
      {Status::unsupported, Verdict::unsupported, Fingerprint::none},
      {Status::error, Verdict::error, Fingerprint::error},
      {Status::crashed, Verdict::crashed, Fingerprint::crash},
      {Status::timed_out, Verdict::timed_out, Fingerprint::timeout},
      {Status::not_run, Verdict::not_run, Fingerprint::none},
  };
  for (const auto& [status, verdict, fingerprint] : expected) {
    Outcome outcome;
    outcome.status = status;
    outcome.detail = "signal 11";
    outcome.broken_guards = {"a"};  // less than the end of the process
    const Judgement judgement = judge_.judge(0, outcome);
    EXPECT_EQ(judgement.verdict, verdict);
    EXPECT_EQ(judgement.fingerprint, fingerprint);
    EXPECT_EQ(judgement.detail, "signal 11");
  }
}

TEST_F(JudgeTest, HygieneOutranksAMismatchInItsOwnOrder) {
  Outcome outcome = answer(case_, 1.5);
  outcome.unwritten = 3;
  Judgement judgement = judge_.judge(0, outcome);
  EXPECT_EQ(judgement.fingerprint, Fingerprint::unwritten);
  EXPECT_NE(judgement.detail.find("3 output elements"), std::string::npos);
  EXPECT_NEAR(judgement.error, 0.5, 1e-6) << "error and tolerance are told all the same";
  outcome.changed_inputs = {"x"};
  EXPECT_EQ(judge_.judge(0, outcome).fingerprint, Fingerprint::input);
  outcome.broken_guards = {"a"};
  judgement = judge_.judge(0, outcome);
  EXPECT_EQ(judgement.fingerprint, Fingerprint::guard);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
}

TEST_F(JudgeTest, HygieneOfOneRunIsNotRememberedForTheNext) {
  Outcome outcome = answer(case_, 1.0);
  outcome.broken_guards = {"a"};
  EXPECT_EQ(judge_.judge(0, outcome).verdict, Verdict::failed);
  EXPECT_EQ(judge_.judge(0, answer(case_, 1.0)).verdict, Verdict::passed);
}

TEST_F(JudgeTest, MissingOutputIsAnErrorThatNamesIt) {
  Outcome outcome = answer(case_, 1.0);
  outcome.outputs.pop_back();
  const Judgement judgement = judge_.judge(0, outcome);
  EXPECT_EQ(judgement.verdict, Verdict::error);
  EXPECT_EQ(judgement.fingerprint, Fingerprint::error);
  EXPECT_NE(judgement.detail.find("'b'"), std::string::npos);
}

TEST_F(JudgeTest, MissingBlobIsADatasetError) {
  Outcome outcome = answer(case_, 1.0);
  outcome.outputs[0].digest.low ^= 1;
  EXPECT_THROW(judge_.judge(0, outcome), DatasetError);
}

TEST_F(JudgeTest, NothingCheckedIsUntrusted) {
  const PackCase empty = pack_case({ones("a", 0)});
  const PackCase partly = pack_case({ones("a", 0), ones("b", 2)});
  Judge judge({empty, partly, pack_case({})}, blobs_);
  EXPECT_EQ(judge.judge(0, answer(empty, 0)).verdict, Verdict::untrusted);
  EXPECT_EQ(judge.judge(1, answer(partly, 1.0)).verdict, Verdict::passed);
  EXPECT_EQ(judge.judge(2, answer(pack_case({}), 0)).verdict, Verdict::untrusted);
}

}  // namespace
}  // namespace parity
