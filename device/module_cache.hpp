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
ModuleKey make_module_key(const VariantSpec& spec, const std::string& text,
                          const ToolchainIdentity& toolchain, const Faults& faults);

class ModuleCache final : public Carrier {
 public:
  ModuleCache(Backend& backend, const Toolchain& toolchain, DiskCache& disk, const Faults& faults);

  /// The module for `spec`, loaded at first use; the touch is recorded in `trace`. The reference
  /// lives until restore(). Throws CompileError or DeviceError; a failure is not remembered.
  const Module& get(const VariantSpec& spec, Trace& trace);

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
    std::string writer;
    std::shared_future<std::shared_ptr<const Module>> module;
  };

  const Module& load(const VariantSpec& spec, const std::string& writer, CellTouch* touch);

  Backend& backend_;
  const Toolchain& toolchain_;
  DiskCache& disk_;
  const Faults faults_;
  mutable std::mutex mutex_;
  std::map<ModuleKey, Entry> entries_;
};

}  // namespace parity
