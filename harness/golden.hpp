// Golden data held against golden data: a file's cases against the same cases computed again, or
// against another file's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/pack.hpp"

namespace parity {

/// What `expected` and `bound` may be off when they are computed again, on whatever CPU: per row of
/// an output that is judged by rows ‖difference‖₂ / ‖row‖₂, per log-sum-exp |difference| /
/// max(1, |value|), per bound |difference| / bound. Whatever else there is, is exact.
inline constexpr double kGoldenTolerance = 1e-12;

/// What a stored case is not: each a line that names the tensor, the element that is most off and
/// how far. Inputs are compared bit for bit (by digest, where they are not stored), expected
/// outputs and bounds to kGoldenTolerance.
std::vector<std::string> verify_case(const PackCase& stored, const PackCase& computed);

/// The same between cases of two files, A and B, in every bit of all that both store.
std::vector<std::string> diff_cases(const PackCase& a, const PackCase& b);

/// `count` of the ids (all, where there are no more), in their order; the same for the same ids and
/// seed.
std::vector<std::string> sample_of(std::span<const std::string> ids, std::size_t count,
                                   std::uint64_t seed);

}  // namespace parity
