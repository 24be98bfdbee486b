// The workspace pool.
#include "device/workspace_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "datasets/errors.hpp"
#include "device/arena.hpp"

namespace parity {
namespace {

constexpr std::size_t kMostSnapshotBytes = std::size_t{8} << 20;
/// What fills a fresh block and its guards: a NaN that no kernel writes.
constexpr std::byte kUntouched{0xff};
/// -inf as f32: what the plant dirty_workspace relies on.
constexpr std::uint32_t kMinusInfinity = 0xff800000u;

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15u];
  }
  return text;
}

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 2 <= text.size(); i += 2) {
    unsigned value = 0;
    const char* const end = text.data() + i + 2;
    if (const auto [stop, error] = std::from_chars(text.data() + i, end, value, 16);
        error != std::errc{} || stop != end)
      throw UsageError(
          fmt::format("workspace content has '{}', which is not hexadecimal", text.substr(i, 2)));
    bytes.push_back(static_cast<std::byte>(value));
  }
  if (text.size() % 2 != 0)
    throw UsageError("workspace content has an odd number of hexadecimal digits");
  return bytes;
}

}  // namespace

std::string WorkspaceKey::canonical() const {
  return kernel + '/' + purpose;
}

WorkspaceKey WorkspaceKey::parse(std::string_view canonical) {
  const std::size_t slash = canonical.find('/');
  if (slash == 0 || slash == canonical.npos || slash + 1 == canonical.size())
    throw UsageError(fmt::format("'{}' is no workspace; it is kernel/purpose", canonical));
  return {std::string(canonical.substr(0, slash)), std::string(canonical.substr(slash + 1))};
}

std::byte* WorkspacePool::Block::content() const {
  return static_cast<std::byte*>(memory.data()) + kGuardBytes;
}

std::size_t WorkspacePool::Block::bytes() const {
  return memory.bytes() - 2 * kGuardBytes;
}

WorkspacePool::WorkspacePool(Backend& backend, const Faults& faults)
    : backend_(backend), faults_(faults) {}

WorkspaceLease WorkspacePool::lease(const WorkspaceKey& key, std::size_t bytes, Trace& trace) {
  std::unique_lock map(mutex_);
  Block& block = blocks_[key];
  map.unlock();
  WorkspaceLease::Hold hold = this->hold(block);
  const bool grown = !block.is_made() || block.bytes() < bytes;
  if (grown) {
    backend_.synchronize();  // A launch may still be using the old block.
    block.memory = fresh(bytes);
    block.writer = trace.label();
  }
  trace.add({std::string(name()), key.canonical(), grown, {}, {}, block.writer});
  block.writer = trace.label();
  return {{{Dtype::u8, {static_cast<std::int64_t>(bytes)}}, block.content()}, std::move(hold)};
}

WorkspaceLease::Hold WorkspacePool::hold(Block& block) {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [&] { return !block.held; });
  block.held = true;
  return {&block.held, {this}};
}

void WorkspaceLease::Return::operator()(bool* held) const {
  {
    const std::scoped_lock lock(pool->mutex_);
    *held = false;
  }
  pool->returned_.notify_all();
}

DeviceBuffer WorkspacePool::fresh(std::size_t bytes) const {
  DeviceBuffer memory(backend_, kGuardBytes + bytes + kGuardBytes);
  backend_.fill(memory.data(), kUntouched, memory.bytes());
  if (faults_.dirty_workspace) {
    const std::vector<std::uint32_t> words(bytes / sizeof(std::uint32_t), kMinusInfinity);
    backend_.copy_in(static_cast<std::byte*>(memory.data()) + kGuardBytes,
                     std::as_bytes(std::span(words)));
  }
  return memory;
}

std::vector<std::string> WorkspacePool::broken_guards(const Trace& trace) {
  std::vector<std::pair<const WorkspaceKey*, Block*>> blocks;
  {
    const std::scoped_lock map(mutex_);
    for (auto& [key, block] : blocks_) blocks.emplace_back(&key, &block);
  }
  std::vector<std::string> broken;
  for (const auto& [key, block] : blocks) {
    const WorkspaceLease::Hold held = hold(*block);
    if (!block->is_made() || block->writer != trace.label()) continue;
    const bool before = mend(block->content() - kGuardBytes);
    const bool after = mend(block->content() + block->bytes());
    if (before || after) broken.push_back("workspace " + key->canonical());
  }
  return broken;
}

/// Whether there was anything to mend.
bool WorkspacePool::mend(std::byte* guard) const {
  std::vector<std::byte> bytes(kGuardBytes);
  backend_.copy_out(bytes, guard);
  if (std::ranges::all_of(bytes, [](std::byte byte) { return byte == kUntouched; })) return false;
  backend_.fill(guard, kUntouched, kGuardBytes);
  return true;
}

std::vector<CellState> WorkspacePool::snapshot() const {
  std::vector<CellState> cells;
  for (const auto& [key, block] : blocks_) {
    if (!block.is_made()) continue;  // There was no room for it.
    if (block.bytes() > kMostSnapshotBytes)
      throw UsageError(fmt::format("workspace {} has {} bytes; a snapshot takes at most {}",
                                   key.canonical(), block.bytes(), kMostSnapshotBytes));
    std::vector<std::byte> bytes(block.bytes());
    backend_.copy_out(bytes, block.content());
    cells.push_back({key.canonical(), to_hex(bytes)});
  }
  return cells;
}

void WorkspacePool::restore() {
  backend_.synchronize();
  blocks_.clear();
}

void WorkspacePool::set(const std::vector<CellState>& cells) {
  std::map<WorkspaceKey, std::vector<std::byte>> contents;
  for (const auto& [cell, content] : cells) contents[WorkspaceKey::parse(cell)] = from_hex(content);
  restore();
  for (const auto& [key, bytes] : contents) {
    Block& block = blocks_[key];
    block.memory = fresh(bytes.size());
    backend_.copy_in(block.content(), bytes);
  }
}

}  // namespace parity
