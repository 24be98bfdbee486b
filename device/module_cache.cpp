// The module cache. A promise stands in the map before its module is built, so that whoever asks
// meanwhile waits for it: one compile a key.
#include "device/module_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"

namespace parity {
namespace {

/// How long the plant unlocked_first_use leaves an entry without its module: threads that start
/// together ask within it.
constexpr std::chrono::milliseconds kUnlockedWindow{100};

}  // namespace

ModuleKey make_module_key(const VariantSpec& spec, const Digest& text,
                          const ToolchainIdentity& toolchain, const Faults& faults) {
  if (faults.weak_module_key) return {{spec.kernel, spec.constants, {}}, {}, {}};
  return {spec, text, toolchain};
}

ModuleCache::ModuleCache(Backend& backend, const Toolchain& toolchain, DiskCache& disk,
                         const Faults& faults)
    : backend_(backend), toolchain_(toolchain), disk_(disk), faults_(faults) {}

std::shared_ptr<const Module> ModuleCache::share(const VariantSpec& spec, Trace& trace) {
  CellTouch touch;
  std::shared_ptr<const Module> module = load(spec, trace.label(), &touch);
  trace.add(std::move(touch));
  if (module == nullptr)
    throw DeviceError(fmt::format("kernel '{}' cannot be launched: its module is not there yet",
                                  spec.canonical()));
  return module;
}

void ModuleCache::prepare(const VariantSpec& spec) {
  disk_.image(render(spec), toolchain_);
}

/// `text`: rendered, where that was necessary.
std::shared_ptr<const ModuleCache::Named> ModuleCache::named(const VariantSpec& spec,
                                                             std::string& text) {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = named_.find(spec); found != named_.end()) return found->second;
  }
  text = render(spec);
  auto made = std::make_shared<Named>();
  made->key = make_module_key(spec, digest(text), toolchain_.identity(), faults_);
  made->cell = made->key.spec.canonical();
  made->dtypes = spec.dtype_text();
  const std::scoped_lock lock(mutex_);
  return named_.emplace(spec, std::move(made)).first->second;
}

/// Fulfils the promise.
void ModuleCache::build(const VariantSpec& spec, const std::string& text, const Entry& entry,
                        std::promise<std::shared_ptr<const Module>>& promise) {
  if (faults_.unlocked_first_use) std::this_thread::sleep_for(kUnlockedWindow);
  std::shared_ptr<const Module> module =
      backend_.load(disk_.image(text.empty() ? render(spec) : text, toolchain_), spec.kernel);
  if (faults_.unlocked_first_use) entry.unlocked = module.get();
  promise.set_value(std::move(module));
}

std::shared_ptr<const Module> ModuleCache::load(const VariantSpec& spec, const std::string& writer,
                                                CellTouch* touch) {
  std::string text;
  const std::shared_ptr<const Named> variant = named(spec, text);
  std::optional<std::promise<std::shared_ptr<const Module>>> promise;
  std::shared_ptr<const Entry> entry;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = entries_.find(variant->key);
    if (found != entries_.end()) {
      entry = found->second;
    } else {
      promise.emplace();
      entry = std::make_shared<Entry>(
          Entry{spec, variant->dtypes, writer, promise->get_future().share()});
      entries_.emplace(variant->key, entry);
    }
  }
  if (promise) {
    try {
      build(spec, text, *entry, *promise);
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      entries_.erase(variant->key);  // The next request tries again.
      promise->set_exception(std::current_exception());
    }
  }
  const bool waits = promise.has_value() || !faults_.unlocked_first_use;
  std::shared_ptr<const Module> module =
      waits ? entry->module.get() : std::shared_ptr<const Module>(entry, entry->unlocked);
  if (touch != nullptr)
    *touch = {std::string(name()), variant->cell,   promise.has_value(),
              entry->dtypes,       variant->dtypes, entry->writer};
  return module;
}

std::vector<CellState> ModuleCache::snapshot() const {
  std::vector<CellState> cells;
  const std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (entry->module.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      cells.push_back({key.spec.canonical(), entry->built_for.canonical()});
  std::ranges::sort(cells, {}, &CellState::cell);
  return cells;
}

void ModuleCache::restore() {
  backend_.synchronize();  // A module in use must not be unloaded.
  const std::scoped_lock lock(mutex_);
  entries_.clear();
  named_.clear();
}

void ModuleCache::set(const std::vector<CellState>& cells) {
  std::vector<VariantSpec> specs;
  for (const auto& [cell, content] : cells) {
    const VariantSpec& spec = specs.emplace_back(VariantSpec::parse(content));
    const std::string made =
        make_module_key(spec, digest(render(spec)), toolchain_.identity(), faults_)
            .spec.canonical();
    if (made != cell)
      throw UsageError(fmt::format("cell '{}' cannot be made from '{}', which makes cell '{}'",
                                   cell, content, made));
  }
  restore();
  for (const VariantSpec& spec : specs) load(spec, "set", nullptr);
}

}  // namespace parity
