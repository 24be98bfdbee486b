// What rejection_sample chooses for its caller, and what it refuses.
#include <gtest/gtest.h>

#include <string>

#include "device/rejection_sample.hpp"
#include "tests/refusal.hpp"
#include "tests/rejection_sample_run.hpp"

namespace parity {
namespace {

TEST(RejectionSampleArgsTest, SplitsAreChosenToFillTheDevice) {
  EXPECT_EQ(sampler_splits(1, 128256, 132), 31);
  EXPECT_EQ(sampler_splits(64, 128256, 132), 5);
  EXPECT_EQ(sampler_splits(989, 128256, 132), 1);
  EXPECT_EQ(sampler_splits(1, 4095, 132), 1);
  EXPECT_EQ(sampler_splits(1, 1 << 18, 132), 64);
  EXPECT_EQ(rejection_sample_workspace_bytes(3, 1, FilterOrder::joint), 0);
  EXPECT_EQ(rejection_sample_workspace_bytes(3, 4, FilterOrder::joint), 2 * 3 * (64 + 4 * 40));
  EXPECT_EQ(rejection_sample_workspace_bytes(3, 4, FilterOrder::top_k_first),
            2 * 3 * (64 + 4 * (40 + 1024)));
}

TEST(RejectionSampleArgsTest, RefusalsNameTheArgument) {
  RejectionRun run;
  RejectionProblem problem(Dtype::f32, 2, {1, 2, 3});
  problem.draw_by({1, 1, 1});
  using Args = RejectionSampleArgs;
  const auto expect_refusal = [&](const std::string& part, auto change) {
    Args args = run.place(problem);
    change(args);
    const std::string words = refusal_of([&] { rejection_sample(run.runtime(), args); });
    EXPECT_NE(words.find(part), std::string::npos) << words;
  };
  expect_refusal("the vocabulary of probs is 262145, but must be 1 to 262144",
                 [](Args& a) { a.probs.type.shape[1] = (1 << 18) + 1; });
  expect_refusal("the vocabulary of probs is 0", [](Args& a) { a.probs.type.shape[1] = 0; });
  expect_refusal("probs is i32[2,3], but must be f32, f16 or bf16",
                 [](Args& a) { a.probs.type.dtype = Dtype::i32; });
  expect_refusal("draw is f16[2,3], but must be f32[2,3]",
                 [](Args& a) { a.draw->type.dtype = Dtype::f16; });
  expect_refusal("top_k is i64[2], but must be i32[2]",
                 [](Args& a) { a.top_k.type.dtype = Dtype::i64; });
  expect_refusal("top_p is f64[2], but must be", [](Args& a) { a.top_p.type.dtype = Dtype::f64; });
  expect_refusal("min_p is bf16[2], but must be f32[2]",
                 [](Args& a) { a.min_p.type.dtype = Dtype::bf16; });
  expect_refusal("seed is i64[2], but must be u64[2]",
                 [](Args& a) { a.seed.type.dtype = Dtype::i64; });
  expect_refusal("step is u64[1], but must be u64[2]", [](Args& a) { a.step.type.shape = {1}; });
  expect_refusal("token is i64[2]", [](Args& a) { a.token.type.dtype = Dtype::i64; });
  expect_refusal("ok is i32[2]", [](Args& a) { a.ok.type.dtype = Dtype::i32; });
  expect_refusal("rounds is i32[3]", [](Args& a) { a.rounds.type.shape = {3}; });
  expect_refusal("splits is 65, but must be 1 to 64", [](Args& a) { a.splits = 65; });
  expect_refusal("probs must be aligned to 16",
                 [](Args& a) { a.probs.data = static_cast<std::byte*>(a.probs.data) + 4; });
  expect_refusal("rounds has no memory", [](Args& a) { a.rounds.data = nullptr; });
  expect_refusal("token lies on top_k", [](Args& a) { a.token.data = a.top_k.data; });
}

TEST(RejectionSampleArgsTest, TheModuleKeyHoldsBothDtypesAndWhetherThereAreDraws) {
  EXPECT_EQ(rejection_sample_variant(Dtype::f16, Dtype::bf16, true).canonical(),
            "rejection_sample<DRAW=1>(probs=f16,filter=bf16)");
}

}  // namespace
}  // namespace parity
