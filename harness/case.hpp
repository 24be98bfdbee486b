// A case and its id: `kernel/dtypes/constants/recipe`. The id parses back to the case and is at
// once filter, golden key, report key and replay argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/kernel_spec.hpp"

namespace parity {

struct Case {
  const KernelSpec* spec = nullptr;
  std::vector<Dtype> dtypes;            ///< parallel to spec->dtypes
  std::vector<std::int64_t> constants;  ///< parallel to spec->constants
  std::string recipe;

  /// "paged_decode_v1/q=bf16,k=f16,v=f16/d=128,hq=8,hkv=2,page=16/ragged". Axes that have their
  /// usual value are left out, so that a case has one id.
  std::string id() const;
  /// The id's second part: "q=bf16,k=f16,v=f16".
  std::string dtype_text() const;
  /// Value of an axis. Throws UsageError for one the spec does not have.
  Dtype dtype(std::string_view axis) const;
  std::int64_t constant(std::string_view axis) const;
  /// stable_hash of operation, dtypes, data axes and recipe:
  /// "paged_decode/q=bf16,.../d=128,.../ragged", without the kernel's name, its schedule axes and
  /// what ids leave out.
  std::uint64_t data_seed() const;
  /// True where the spec lists the recipe as degenerate.
  bool degenerate() const;
  bool operator==(const Case&) const = default;
};

/// Throws UsageError naming what is malformed (kernel, axis, order of axes, value, recipe) and what
/// is known. All four parts are always there; that of a kernel without dtypes or constants is empty
/// ("k//n=4/plain"). An axis that is written out with its usual value is malformed. Whether the
/// combination is one the kernel can do is not asked here: see require_valid.
Case parse_case(std::span<const KernelSpec> kernels, std::string_view id);

enum class Suite : std::uint8_t { smoke, full };
Suite parse_suite(std::string_view text);

/// The suite's cases in registry order. full = smoke, then of each kernel the published cases, its
/// first smoke case at every combination of dtypes, and the pairwise combination of its axes
/// (harness/pairwise.hpp).
std::vector<Case> suite_cases(std::span<const KernelSpec> kernels, Suite suite);

/// fnmatch without flags over the whole id; a pattern opening with '!' excludes. Without positive
/// patterns everything is selected first. Throws UsageError when nothing is left ("0 of 0" is no
/// success).
std::vector<Case> select(std::vector<Case> cases, const std::vector<std::string>& patterns);

/// fnmatch without flags: '*' crosses '/'.
bool matches(std::string_view pattern, const std::string& id);

/// How alike two cases are, for choosing the nearest polluter: fewer is nearer. Compares, in this
/// order of weight: kernel, constants that differ, recipe, dtypes that differ.
int distance(const Case& a, const Case& b);

/// Bytes of inputs and outputs that a case may have: a mistyped id must not ask for all memory. The
/// reference and a worker's copies take a few times that.
inline constexpr std::int64_t kMostCaseBytes = std::int64_t{1} << 30;

/// Throws UsageError with the spec's reason when this combination of values is no case, or when it
/// would be larger than kMostCaseBytes (of specs that say their inputs' types).
void require_valid(const Case& c);

/// Relative cost of one run: bytes of inputs and outputs. Throws as require_valid does.
std::int64_t cost(const Case& c);

}  // namespace parity
