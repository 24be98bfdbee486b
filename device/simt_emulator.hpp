// Runs a grid of kernel threads on the calling CPU thread: block after block, a block's threads as
// fibers that meet at barriers and warp collectives.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "device/backend.hpp"

namespace parity {

struct SimtLaunch {
  std::string_view kernel;            ///< for messages
  void (*entry)(const void* params);  ///< HostModule::entry
  const void* params;
  std::uint32_t grid_x = 1;
  std::uint32_t grid_y = 1;
  std::uint32_t block_threads = 1;  ///< 1..1024, not necessarily whole warps
  std::size_t dynamic_shared_bytes = 0;
};

inline constexpr std::uint32_t kMaxBlockThreads = 1024;
/// Static and dynamic shared memory of a block together: that of an H200.
inline constexpr std::size_t kMaxSharedBytes = 227 * 1024;

/// Owns the stacks, which are used again from block to block and launch to launch. Not thread-safe.
class SimtEmulator {
 public:
  SimtEmulator();
  ~SimtEmulator();
  SimtEmulator(const SimtEmulator&) = delete;
  SimtEmulator& operator=(const SimtEmulator&) = delete;

  /// Returns when every block has ended. Threads run in this thread's floating-point mode. Throws
  /// DeviceError naming kernel, block and lines of the rendered text where a rendezvous cannot
  /// complete or is called wrongly; the emulator can be used again.
  void run(const SimtLaunch& launch);

 private:
  class Block;
  std::unique_ptr<Block> block_;
};

}  // namespace parity
