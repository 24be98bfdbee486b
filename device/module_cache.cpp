// The module cache. A promise stands in the map before its module is built, so that whoever asks
// meanwhile waits for it: one compile a key.
#include "device/module_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"

namespace parity {

ModuleKey make_module_key(const VariantSpec& spec, const std::string& text,
                          const ToolchainIdentity& toolchain, const Faults& faults) {
  if (faults.weak_module_key) return {{spec.kernel, spec.constants, {}}, {}, {}};
  return {spec, digest(text), toolchain};
}

ModuleCache::ModuleCache(Backend& backend, const Toolchain& toolchain, DiskCache& disk,
                         const Faults& faults)
    : backend_(backend), toolchain_(toolchain), disk_(disk), faults_(faults) {}

const Module& ModuleCache::get(const VariantSpec& spec, Trace& trace) {
  CellTouch touch;
  const Module& module = load(spec, trace.label(), &touch);
  trace.add(std::move(touch));
  return module;
}

void ModuleCache::prepare(const VariantSpec& spec) {
  disk_.image(render(spec), toolchain_);
}

const Module& ModuleCache::load(const VariantSpec& spec, const std::string& writer,
                                CellTouch* touch) {
  const std::string text = render(spec);
  const ModuleKey key = make_module_key(spec, text, toolchain_.identity(), faults_);
  std::promise<std::shared_ptr<const Module>> promise;
  Entry entry;
  bool wrote = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    wrote = found == entries_.end();
    entry = wrote ? Entry{spec, writer, promise.get_future().share()} : found->second;
    if (wrote) entries_.emplace(key, entry);
  }
  if (wrote) {
    try {
      promise.set_value(backend_.load(disk_.image(text, toolchain_), spec.kernel));
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      entries_.erase(key);  // The next request tries again.
      promise.set_exception(std::current_exception());
    }
  }
  const Module& module = *entry.module.get();
  if (touch != nullptr)
    *touch = {std::string(name()),          key.spec.canonical(), wrote,
              entry.built_for.dtype_text(), spec.dtype_text(),    entry.writer};
  return module;
}

std::vector<CellState> ModuleCache::snapshot() const {
  std::vector<CellState> cells;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (entry.module.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      cells.push_back({key.spec.canonical(), entry.built_for.canonical()});
  std::ranges::sort(cells, {}, &CellState::cell);
  return cells;
}

void ModuleCache::restore() {
  backend_.synchronize();  // A module in use must not be unloaded.
  const std::scoped_lock lock(mutex_);
  entries_.clear();
}

void ModuleCache::set(const std::vector<CellState>& cells) {
  std::vector<VariantSpec> specs;
  for (const auto& [cell, content] : cells) {
    const VariantSpec& spec = specs.emplace_back(VariantSpec::parse(content));
    const std::string made =
        make_module_key(spec, render(spec), toolchain_.identity(), faults_).spec.canonical();
    if (made != cell)
      throw UsageError(fmt::format("cell '{}' cannot be made from '{}', which makes cell '{}'",
                                   cell, content, made));
  }
  restore();
  for (const VariantSpec& spec : specs) load(spec, "set", nullptr);
}

}  // namespace parity
