// Gumbel-max sampling by definition, in double.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "datasets/tensor.hpp"

namespace parity {

struct GumbelMaxProblem {
  const Tensor& logits;       ///< [B, V], floating
  const Tensor& temperature;  ///< [B] f32
  const Tensor& seed;         ///< [B] u64
  const Tensor& step;         ///< [B] u64
};

/// What is computed; other than by default, what a plausible fault would compute.
struct GumbelMaxRule {
  bool divides = true;                    ///< by the temperature
  bool draws = true;                      ///< adds noise
  std::optional<Dtype> noise_dtype = {};  ///< the noise is rounded to it
  std::uint64_t step_offset = 0;          ///< added to every step
  bool skips_nan = false;                 ///< a NaN counts as -infinity
};

struct GumbelMaxRow {
  std::int64_t token = -1;  ///< -1 where nothing can be chosen
  /// Best score minus second best; infinity where the choice is between values that are compared
  /// as they are, or there is no second.
  double gap = std::numeric_limits<double>::infinity();
  /// Other tokens whose scores f32 arithmetic may take for the best: those that are not
  /// max(1e-4, 2^-21·|score|) below it. None: every right implementation chooses `token`.
  std::vector<std::int64_t> rivals;
};

/// Throws UsageError for tensors of other types and shapes than said above.
GumbelMaxRow gumbel_max_sample_row(const GumbelMaxProblem& problem, std::int64_t row,
                                   const GumbelMaxRule& rule = {});

/// The Philox word that draws element `index`.
std::uint32_t gumbel_word(std::uint64_t seed, std::uint64_t step, std::int64_t index);

/// -ln(-ln(1 - v)), v = min((word + 0.5)·2^-32, 1 - 2^-24) in f32 arithmetic, logarithms in double.
double gumbel_noise(std::uint32_t word);

}  // namespace parity
