// gumbel_max_sample: its workspace, how rows are split, its module keys, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "device/device_buffer.hpp"
#include "device/gumbel_max_sample.hpp"
#include "tests/gumbel_max_run.hpp"
#include "tests/refusal.hpp"

namespace parity {
namespace {

/// A workspace is leased again as it was left.
TEST(GumbelMaxArgsTest, WhatTheWorkspaceHoldsNeverMatters) {
  GumbelRun run;
  const GumbelProblem problem("logits=f32/v=257,b=12,splits=1/edges");
  const Sampled want = run.sample(problem, 1);
  GumbelMaxSampleArgs args = run.place(problem);
  args.splits = 5;
  const std::int64_t bytes = gumbel_max_workspace_bytes(12, 5);
  EXPECT_EQ(bytes, 12 * 5 * 8);
  const DeviceBuffer memory(run.runtime().backend(), static_cast<std::size_t>(bytes));
  args.workspace = {{Dtype::u8, {bytes}}, memory.data()};
  for (const std::byte content : {std::byte{0}, std::byte{0xff}, std::byte{0x7f}}) {
    run.runtime().backend().fill(memory.data(), content, static_cast<std::size_t>(bytes));
    gumbel_max_sample(run.runtime(), args);
    std::vector<std::int32_t> token(12);
    run.runtime().backend().copy_out(std::as_writable_bytes(std::span(token)), args.token.data);
    EXPECT_TRUE(std::ranges::equal(token, want.token));
  }
}

TEST(GumbelMaxArgsTest, AutoFillsTheDeviceWithBlocksThatAreWorthIt) {
  EXPECT_EQ(sampler_splits(1, 262144, 132), 64);
  EXPECT_EQ(sampler_splits(1, 128256, 132), 31);
  EXPECT_EQ(sampler_splits(64, 128256, 132), 5);
  EXPECT_EQ(sampler_splits(989, 262144, 132), 1);
  EXPECT_EQ(sampler_splits(1, 4095, 132), 1);
  EXPECT_EQ(sampler_splits(1, 1, 8), 1);
}

TEST(GumbelMaxArgsTest, TheModuleKeyHoldsTheLogitsDtype) {
  EXPECT_EQ(gumbel_max_sample_variant(Dtype::bf16).canonical(), "gumbel_max_sample(logits=bf16)");
  EXPECT_EQ(gumbel_max_combine_variant().canonical(), "gumbel_max_combine");
}

TEST(GumbelMaxArgsTest, MalformedArgumentsAreRefusedByName) {
  using Args = GumbelMaxSampleArgs;
  GumbelRun run;
  const GumbelProblem problem(Dtype::f32, 4, 33);
  const auto refused = [&](const std::string& part, auto change) {
    Args args = run.place(problem);
    change(args);
    const std::string words = refusal_of([&] { gumbel_max_sample(run.runtime(), args); });
    EXPECT_NE(words.find("gumbel_max_sample: "), words.npos) << words;
    EXPECT_NE(words.find(part), words.npos) << words;
  };
  refused("logits is e4m3", [](Args& a) { a.logits.type.dtype = Dtype::e4m3; });
  refused("logits is f32[132]", [](Args& a) { a.logits.type.shape = {132}; });
  refused("vocabulary of logits is 0", [](Args& a) { a.logits.type.shape[1] = 0; });
  refused("temperature is f64[4]", [](Args& a) { a.temperature.type.dtype = Dtype::f64; });
  refused("temperature is f32[3]", [](Args& a) { a.temperature.type.shape = {3}; });
  refused("seed is i64[4]", [](Args& a) { a.seed.type.dtype = Dtype::i64; });
  refused("step is u64[5]", [](Args& a) { a.step.type.shape = {5}; });
  refused("token is i64[4]", [](Args& a) { a.token.type.dtype = Dtype::i64; });
  refused("ok is u8[4,1]", [](Args& a) { a.ok.type.shape = {4, 1}; });
  refused("splits is 65", [](Args& a) { a.splits = 65; });
  refused("splits is -1", [](Args& a) { a.splits = -1; });
  refused("ok has no memory", [](Args& a) { a.ok.data = nullptr; });
  refused("token lies on temperature", [](Args& a) { a.token.data = a.temperature.data; });
  refused("step must be aligned to 8",
          [](Args& a) { a.step.data = static_cast<std::byte*>(a.step.data) + 4; });
  // B7's kind: one byte less than the formula says.
  refused("workspace is u8[95], but must be u8[bytes] of at least 96", [](Args& a) {
    a.splits = 3;
    a.workspace = {{Dtype::u8, {95}}, a.logits.data};
  });
  refused("workspace lies on logits", [](Args& a) {
    a.splits = 3;
    a.workspace = {{Dtype::u8, {96}}, a.logits.data};
  });
}

}  // namespace
}  // namespace parity
