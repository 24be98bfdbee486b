// The audit of module keys: over everything that public launch functions can ask for, one key
// stands for one module and one module has one key. Neither GPU nor compiler is needed.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/variant.hpp"
#include "harness/kernel_spec.hpp"

namespace parity {

/// Makes a module's key from its spec, the digest of its rendered text and who compiles it: make_module_key.
using MakeKey =
    std::function<ModuleKey(const VariantSpec&, const Digest& text, const ToolchainIdentity&)>;

/// A fault of a kernel's keys, shown at the first key that has it.
struct KeyFault {
  std::string kernel;
  std::string what;    ///< in words: "two specs have one key"
  std::string key;     ///< the key's spec in canonical form: the cell of the module cache
  std::string first;   ///< the two that the key does not tell apart, or should not
  std::string second;  ///< (for one and the same module: empty)
  /// Public launch functions, each with the dtypes it is called with, that share the key.
  std::vector<std::string> exposed;
  std::size_t keys = 0;  ///< of this kernel with this fault

  bool operator==(const KeyFault&) const = default;
};

/// Of a kernel's public launch function.
struct KeyCount {
  std::string kernel;
  std::size_t variants = 0;
  std::size_t keys = 0;  ///< different ones, over all toolchains
};

struct KeyAudit {
  std::vector<KeyCount> kernels;  ///< as given
  std::vector<KeyFault> faults;   ///< by kernel; empty when all is well
};

/// Checks, for every variant of every kernel under each toolchain: the spec is what was asked for;
/// other specs have another key, and another name in the cache; another text, name, version,
/// architecture or list of options has another key; asked again, the key is the same; the rendered
/// text opens with the spec. Throws UsageError naming a kernel without variants.
KeyAudit audit_keys(std::span<const KernelSpec> kernels,
                    std::span<const ToolchainIdentity> toolchains, const MakeKey& make_key);

/// Whether the kernels' variants are all there: those of every case of suite full and every dtype
/// axis. Throws UsageError naming the kernel and what its variants lack.
void require_variants(std::span<const KernelSpec> kernels);

}  // namespace parity
