// What the plants of samplers do to tokens: with them a sampler draws other tokens than it should,
// and others do not.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/faults.hpp"
#include "tests/gumbel_max_run.hpp"
#include "tests/rejection_sample_run.hpp"

namespace parity {
namespace {

/// Of 64 rows; equal logits, so that every step draws another token.
GumbelProblem gumbel_from(Dtype logits, std::uint64_t first_step) {
  GumbelProblem problem(logits, 64, 4096);
  for (std::int64_t row = 0; row < problem.rows(); ++row)
    problem.set_step(row, first_step + static_cast<std::uint64_t>(row));
  return problem;
}

RejectionProblem rejection_from(Dtype probs, std::uint64_t first_step) {
  RejectionProblem problem(probs, 64, std::vector<double>(257, 1.0));
  for (std::int64_t row = 0; row < problem.rows(); ++row)
    problem.set_step(row, first_step + static_cast<std::uint64_t>(row));
  return problem;
}

/// C6: both samplers go on where f16 left the stream; f16 itself begins where it was told.
TEST(SamplerPlantsTest, AnOffsetIsCarriedFromSamplingF16ToOtherSamplings) {
  GumbelRun sound;
  GumbelRun planted({.rng_offset_carry = true});
  const Sampled own = sound.sample(gumbel_from(Dtype::f32, 0));
  EXPECT_EQ(planted.sample(gumbel_from(Dtype::f32, 0)), own) << "nothing was drawn before";
  for (int call = 0; call < 2; ++call) EXPECT_EQ(planted.sample(gumbel_from(Dtype::f16, 0)), own);
  const Sampled carried = planted.sample(gumbel_from(Dtype::bf16, 0));
  EXPECT_NE(carried, own);
  EXPECT_EQ(carried, sound.sample(gumbel_from(Dtype::bf16, 2)));

  RejectionRun rejection;
  RejectionRun planted_rejection({.rng_offset_carry = true});
  planted_rejection.sample(rejection_from(Dtype::f16, 0));
  EXPECT_EQ(planted_rejection.sample(rejection_from(Dtype::f32, 0)),
            rejection.sample(rejection_from(Dtype::f32, 1)));
}

TEST(SamplerPlantsTest, NoiseInTheDtypeOfTheLogitsChangesTokensOfF16AndBf16Alone) {
  GumbelRun sound;
  GumbelRun planted({.noise_in_logits_dtype = true});
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    const std::string logits = std::string("logits=") + dtype;
    const GumbelProblem problem(logits + "/v=256,b=64,splits=1/duel");
    const bool same = planted.sample(problem) == sound.sample(problem);
    EXPECT_EQ(same, logits == "logits=f32") << dtype;
  }
}

}  // namespace
}  // namespace parity
