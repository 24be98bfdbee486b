// Scratch memory that outlives a launch: a carrier. One block for each use, grown on demand, its
// content left as the last launch left it, as in a production engine.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/carrier.hpp"
#include "device/device_buffer.hpp"
#include "device/device_tensor.hpp"
#include "device/faults.hpp"
#include "device/trace.hpp"

namespace parity {

/// What a block is for. Two uses never share one.
struct WorkspaceKey {
  std::string kernel;   ///< "paged_decode_v2"
  std::string purpose;  ///< "partials"

  auto operator<=>(const WorkspaceKey&) const = default;

  /// "paged_decode_v2/partials"
  std::string canonical() const;
  /// Inverse of canonical(). Throws UsageError.
  static WorkspaceKey parse(std::string_view canonical);
};

class WorkspacePool;

/// A block of the pool, held by one thread until this is destroyed: from the launch that writes it
/// to the start of the last launch that reads it, so that no other thread's launch comes between.
struct WorkspaceLease {
  struct Return {
    WorkspacePool* pool;
    void operator()(bool* held) const;
  };
  using Hold = std::unique_ptr<bool, Return>;

  DeviceTensor memory;  ///< u8 [bytes]
  Hold hold;
};

class WorkspacePool final : public Carrier {
 public:
  WorkspacePool(Backend& backend, const Faults& faults);

  /// At least `bytes` bytes, as u8 [bytes]; waits while another thread holds the block, so a thread
  /// may not ask for one that it holds. A block that is too small is replaced (waiting for launches
  /// that use it). A fresh block holds 0xff everywhere: no launch may rely on what it finds. The
  /// touch is recorded in `trace`. Throws DeviceError when there is no room.
  WorkspaceLease lease(const WorkspaceKey& key, std::size_t bytes, Trace& trace);

  /// Of the blocks that the trace's run had last, those before or after which something was
  /// written, as "workspace paged_decode_v2/partials"; their guards are whole again then. What a
  /// run writes behind a request that is smaller than its block is not seen. Waits for the device,
  /// and for threads that hold a block: the caller holds none.
  std::vector<std::string> broken_guards(const Trace& trace);

  // The carrier's functions are for a pool of which nothing is leased.
  std::string_view name() const override { return "workspace_pool"; }
  /// content: the block's bytes in hexadecimal. Throws UsageError for a block above 8 MiB.
  std::vector<CellState> snapshot() const override;
  void restore() override;
  void set(const std::vector<CellState>& cells) override;

 private:
  struct Block {
    bool held = false;    ///< guarded by mutex_; who sets it has what follows to itself
    DeviceBuffer memory;  ///< guard, content, guard
    std::string writer;   ///< label of the run that had it last

    bool is_made() const { return memory.data() != nullptr; }
    std::byte* content() const;
    std::size_t bytes() const;
  };

  friend WorkspaceLease::Return;

  /// Waits while another thread holds it. A flag and not a mutex of its own: recordings hold several
  /// blocks, in any order (see Runtime::Recording), which a checker of lock orders calls a deadlock.
  WorkspaceLease::Hold hold(Block& block);
  DeviceBuffer fresh(std::size_t bytes) const;
  bool mend(std::byte* guard) const;

  Backend& backend_;
  const Faults faults_;
  std::mutex mutex_;  ///< guards the map and who holds what; a block stays where it is
  std::condition_variable returned_;
  std::map<WorkspaceKey, Block> blocks_;
};

}  // namespace parity
