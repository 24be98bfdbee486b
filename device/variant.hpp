// The typed key of a module: all that its text depends on.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/dtype.hpp"

namespace parity {

/// What a launch site asks for. Order of dtypes and constants is the kernel's own.
struct VariantSpec {
  std::string kernel;
  std::vector<std::pair<std::string, std::int64_t>> constants;
  std::vector<std::pair<std::string, Dtype>> dtypes;

  auto operator<=>(const VariantSpec&) const = default;

  /// "paged_decode_v1<D=64,GROUP=4>(q=f32,k=f16,v=bf16)"; either list is left out when empty.
  std::string canonical() const;
  /// "q=f32,k=f16,v=bf16"
  std::string dtype_text() const;
  /// Inverse of canonical(). Throws UsageError.
  static VariantSpec parse(std::string_view canonical);
};

/// Who compiles, for what, and how. Equal identities give equal code for equal text.
struct ToolchainIdentity {
  std::string name;          ///< "nvrtc", "host"
  std::string version;       ///< "13.0"; host: resolved path and --version line
  std::string architecture;  ///< "sm_90a"; host: the CPU features in use
  std::vector<std::string> options;

  auto operator<=>(const ToolchainIdentity&) const = default;
};

/// The in-process key, compared as a whole: a new field cannot be left out of the comparison.
struct ModuleKey {
  VariantSpec spec;
  Digest text;
  ToolchainIdentity toolchain;

  auto operator<=>(const ModuleKey&) const = default;
};

}  // namespace parity
