// The fixed-size aliases of kernel text, and the plain ABI between a host module (kernel text
// compiled into a shared object) and the SIMT emulator that runs it. No standard headers: NVRTC
// reads it too.
#pragma once

namespace parity {

using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)

/// A module built for another version is refused when it is loaded.
inline constexpr u32 kHostAbiVersion = 1;

/// What a rendezvous does; bits 8 to 15 hold the lanes of a segment, bits 16 up the number of
/// values. All lanes that meet must bring the same one.
enum class HostOperation : u32 { warp_barrier, segment_sum, segment_max, shuffle, ballot, any };

struct HostBlock;

/// One thread of the running block. It lives at a fixed place in that thread's stack slot, so
/// kernel text finds it without any mutable state of its own.
struct HostThread {
  HostBlock* block;
  u32 thread_x;
};

/// What a host module may ask of the emulator. None of these throws into the module; one that
/// cannot complete does not return.
struct HostServices {
  /// Waits for all lanes of `mask` in the caller's warp. The lane that arrives last gets every
  /// lane's payload by lane number and works for all; the others get null once that is done.
  void* const* (*rendezvous)(HostThread* self, u32 mask, u32 operation, u32 line, void* payload);
  /// Waits for every thread of the block that has not exited.
  void (*block_barrier)(HostThread* self, u32 line);
  /// The block's array that belongs to `declaration`, poisoned with 0xff at block start.
  void* (*shared_array)(HostThread* self, const void* declaration, u64 bytes, u32 line);
  /// Ends the launch with an error: `what` happened at `line`.
  void (*fault)(HostThread* self, u32 line, const char* what);
};

/// What all threads of the running block see.
struct HostBlock {
  u32 block_x;
  u32 block_y;
  u32 grid_x;
  u32 block_threads;
  void* dynamic_shared;  ///< aligned to 256 bytes
  const HostServices* services;
};

/// Exported by a module as <kernel>_module, beside the entry point itself.
struct HostModule {
  u32 abi_version;
  u32 max_threads;  ///< launch bound
  u64 params_bytes;
  void (*entry)(const void* params);
};

/// Stacks lie in slots of this size, aligned to it; the lowest page of each is a guard.
inline constexpr u64 kStackSlotBytes = 1u << 18;
/// The top of the stack is shifted by a multiple of this: equally aligned stacks would share one
/// cache set.
inline constexpr u64 kStackColourBytes = 320;
inline constexpr u64 kStackColours = 64;
inline constexpr u64 kHostThreadBytes = 64;
static_assert(sizeof(HostThread) <= kHostThreadBytes);

/// Address of the HostThread in the slot of any address on its stack.
constexpr u64 host_thread_address(u64 inside) {
  const u64 slot = inside / kStackSlotBytes;
  return (slot + 1) * kStackSlotBytes - kHostThreadBytes - slot % kStackColours * kStackColourBytes;
}

#endif

}  // namespace parity
