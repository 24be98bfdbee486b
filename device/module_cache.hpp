// The in-process map from typed key to loaded module: a carrier. Concurrent requests for one key
// compile once.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/disk_cache.hpp"
#include "device/faults.hpp"
#include "device/toolchain.hpp"
#include "device/trace.hpp"
#include "device/variant.hpp"

namespace parity {

/// The one place that makes in-process module keys; the plant weak_module_key weakens them here.
ModuleKey make_module_key(const VariantSpec& spec, const Digest& text,
                          const ToolchainIdentity& toolchain, const Faults& faults);

class ModuleCache final : public Carrier {
 public:
  ModuleCache(Backend& backend, const Toolchain& toolchain, DiskCache& disk, const Faults& faults);

  /// The module for `spec`, loaded at first use; the touch is recorded in `trace`. Who keeps it may
  /// use it beyond restore(). Throws CompileError or DeviceError; a failure is not remembered.
  /// Thread-safe.
  std::shared_ptr<const Module> share(const VariantSpec& spec, Trace& trace);

  /// Compiles to disk only: no cell is read or written.
  void prepare(const VariantSpec& spec);

  std::string_view name() const override { return "module_cache"; }
  std::vector<CellState> snapshot() const override;
  void restore() override;
  /// content is VariantSpec::canonical() of what was built.
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Entry {
    VariantSpec built_for;
    std::string dtypes;  ///< of built_for, as text
    std::string writer;
    std::shared_future<std::shared_ptr<const Module>> module;
    /// What the plant unlocked_first_use reads, and nobody guards.
    mutable const Module* unlocked = nullptr;
  };
  /// What a variant's rendered text comes to. The text is a pure function of the variant, so a hit
  /// need not render it again.
  struct Named {
    ModuleKey key;
    std::string cell;    ///< of key.spec, as text
    std::string dtypes;  ///< of the variant, as text
  };

  /// Null only under unlocked_first_use.
  std::shared_ptr<const Module> load(const VariantSpec& spec, const std::string& writer,
                                     CellTouch* touch);
  void build(const VariantSpec& spec, const std::string& text, const Entry& entry,
             std::promise<std::shared_ptr<const Module>>& promise);
  std::shared_ptr<const Named> named(const VariantSpec& spec, std::string& text);

  Backend& backend_;
  const Toolchain& toolchain_;
  DiskCache& disk_;
  const Faults faults_;
  mutable std::mutex mutex_;
  std::map<VariantSpec, std::shared_ptr<const Named>> named_;
  std::map<ModuleKey, std::shared_ptr<const Entry>> entries_;
};

}  // namespace parity
