// The block that the SIMT emulator runs now: its threads, who waits where, and what went wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "device/kernels/host_abi.cuh"
#include "device/simt_emulator.hpp"

namespace parity {

/// Lanes of one warp on their way to one rendezvous.
struct Meeting {
  u32 mask;
  u32 arrived;
  u32 operation;
  u32 line;
  std::array<void*, 32> payloads;
};

struct Warp {
  u32 open = 0;  ///< bit i: meetings[i] is in use
  u32 exited = 0;
  std::array<Meeting, 32> meetings;  ///< a lane waits at one at most
};

struct BarrierState {
  u32 line = 0;
  u32 arrived = 0;
  std::array<bool, kMaxBlockThreads> waiting{};
};

/// A call that the execution model forbids: `what` at `line`; with `other_line`, two lanes that
/// should have met are at different places.
struct SimtFault {
  u32 thread;
  u32 line;
  const char* what;
  std::optional<u32> other_line;
};

/// "segment_sum<8,4>": HostOperation with its shape bits.
std::string operation_text(u32 operation);

/// One line for each: "thread 5 at line 12: ...".
std::string describe_fault(const SimtFault& fault);

/// Who waits where, and for whom, when no thread can go on.
std::string describe_deadlock(const Warp* warps, u32 block_threads, const BarrierState& barrier);

}  // namespace parity
