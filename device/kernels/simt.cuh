// The execution model that kernel text is written against: coordinates, shared memory, barriers,
// warp collectives and counters, for a GPU and for the host emulator (PARITY_HOST_MODULE). Blocks
// are one-dimensional. Every collective names its mask; a group's lanes are wholly in the mask or
// out of it.
#pragma once

#include "host_abi.cuh"

namespace parity {

/// Compute capability: 90 of sm_90a; 0 of the host.
#if defined(__CUDA_ARCH__)
inline constexpr u32 kCapability = __CUDA_ARCH__ / 10;
#else
inline constexpr u32 kCapability = 0;
#endif

}  // namespace parity

#if !defined(PARITY_HOST_MODULE)

#define PARITY_DEVICE __device__ __forceinline__

/// PARITY_KERNEL(name, ParamsType, threads[, blocks]) { body }: `p` is the const parameter struct.
/// `blocks`: how many must fit on a multiprocessor at once, which bounds the registers of a thread.
#define PARITY_KERNEL(name, ParamsType, ...)                \
  extern "C" __global__ void __launch_bounds__(__VA_ARGS__) \
      name(const __grid_constant__ ParamsType p)

/// Declares the array `name` of `count` elements in the block's shared memory.
#define PARITY_SHARED(type, name, count) __shared__ __align__(16) type name[count]

/// Declares `name`, a pointer to the launch's dynamic shared memory.
#define PARITY_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char parity_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(parity_dynamic_shared)

namespace parity {

PARITY_DEVICE u32 thread_x() {
  return threadIdx.x;
}
PARITY_DEVICE u32 block_x() {
  return blockIdx.x;
}
PARITY_DEVICE u32 block_y() {
  return blockIdx.y;
}
PARITY_DEVICE u32 grid_x() {
  return gridDim.x;
}
PARITY_DEVICE u32 block_threads() {
  return blockDim.x;
}
PARITY_DEVICE u32 lane_id() {
  return threadIdx.x % 32;
}
PARITY_DEVICE u32 warp_id() {
  return threadIdx.x / 32;
}

/// All threads of the block that have not exited.
PARITY_DEVICE void block_barrier() {
  __syncthreads();
}
PARITY_DEVICE void warp_barrier(u32 mask) {
  __syncwarp(mask);
}

/// Each of the N values becomes its sum over the aligned group of `Lanes` lanes, in butterfly order
/// (distance 1 first), the same in every lane of the group. Lanes is 1, 2, 4, 8, 16 or 32. T is a
/// float, u32 or u64.
template <u32 Lanes, u32 N, class T>
PARITY_DEVICE void segment_sum(u32 mask, T (&v)[N]) {
#pragma unroll
  for (u32 distance = 1; distance < Lanes; distance *= 2)
#pragma unroll
    for (u32 n = 0; n < N; ++n) v[n] += __shfl_xor_sync(mask, v[n], distance);
}

PARITY_DEVICE float larger_of(float a, float b) {
  return fmaxf(a, b);
}
PARITY_DEVICE u32 larger_of(u32 a, u32 b) {
  return a > b ? a : b;
}

/// Likewise the maximum of floats or u32, which ignores NaN where it can, as fmaxf does.
template <u32 Lanes, u32 N, class T>
PARITY_DEVICE void segment_max(u32 mask, T (&v)[N]) {
#pragma unroll
  for (u32 distance = 1; distance < Lanes; distance *= 2)
#pragma unroll
    for (u32 n = 0; n < N; ++n) v[n] = larger_of(v[n], __shfl_xor_sync(mask, v[n], distance));
}

/// `value` of lane `source_lane` (0..31, in the mask). T is a 32- or 64-bit number.
template <class T>
PARITY_DEVICE T shuffle(u32 mask, T value, u32 source_lane) {
  return __shfl_sync(mask, value, source_lane);
}
PARITY_DEVICE u32 ballot(u32 mask, bool predicate) {
  return __ballot_sync(mask, predicate);
}
PARITY_DEVICE bool any(u32 mask, bool predicate) {
  return __any_sync(mask, predicate) != 0;
}

/// Adds and returns the old value; releases what the caller wrote and acquires what others
/// released.
PARITY_DEVICE u32 atomic_add_acq_rel(u32* counter, u32 value) {
  u32 old;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(counter), "r"(value)
               : "memory");
  return old;
}
PARITY_DEVICE i32 atomic_add_acq_rel(i32* counter, i32 value) {
  return static_cast<i32>(
      atomic_add_acq_rel(reinterpret_cast<u32*>(counter), static_cast<u32>(value)));
}
PARITY_DEVICE void atomic_add_relaxed(u32* counter, u32 value) {
  atomicAdd(counter, value);
}

}  // namespace parity

#else

#define PARITY_DEVICE inline

#define PARITY_KERNEL(name, ParamsType, ...)                                                      \
  static void name##_body(const ParamsType& p);                                                   \
  extern "C" __attribute__((visibility("default"))) void name(const void* params) {               \
    name##_body(*static_cast<const ParamsType*>(params));                                         \
  }                                                                                               \
  extern "C" {                                                                                    \
  extern __attribute__((visibility("default"))) const ::parity::HostModule name##_module;         \
  const ::parity::HostModule name##_module = {                                                    \
      ::parity::kHostAbiVersion, ::parity::host_threads(__VA_ARGS__), sizeof(ParamsType), &name}; \
  }                                                                                               \
  static void name##_body([[maybe_unused]] const ParamsType& p)

namespace parity {

constexpr u32 host_threads(u32 threads, u32 /*blocks*/ = 1) {
  return threads;
}

}  // namespace parity

// The address of a constant of its own tells one declaration (of one instantiation) from another.
#define PARITY_SHARED(type, name, count)             \
  static const char name##_declaration = 0;          \
  type(&name)[count] = *static_cast<type(*)[count]>( \
      ::parity::host_shared_array(&name##_declaration, sizeof(type[count]), __LINE__))

#define PARITY_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::parity::host_thread().block->dynamic_shared)

namespace parity {

PARITY_DEVICE HostThread& host_thread() {
  const u64 inside = reinterpret_cast<u64>(__builtin_frame_address(0));
  return *reinterpret_cast<HostThread*>(host_thread_address(inside));
}

PARITY_DEVICE void* host_shared_array(const void* declaration, u64 bytes, u32 line) {
  HostThread& self = host_thread();
  return self.block->services->shared_array(&self, declaration, bytes, line);
}

PARITY_DEVICE void* const* host_rendezvous(HostOperation operation, u32 shape, u32 mask, u32 line,
                                           void* payload) {
  HostThread& self = host_thread();
  return self.block->services->rendezvous(&self, mask, static_cast<u32>(operation) | shape, line,
                                          payload);
}

PARITY_DEVICE void host_fault(u32 line, const char* what) {
  HostThread& self = host_thread();
  self.block->services->fault(&self, line, what);
}

PARITY_DEVICE u32 thread_x() {
  return host_thread().thread_x;
}
PARITY_DEVICE u32 block_x() {
  return host_thread().block->block_x;
}
PARITY_DEVICE u32 block_y() {
  return host_thread().block->block_y;
}
PARITY_DEVICE u32 grid_x() {
  return host_thread().block->grid_x;
}
PARITY_DEVICE u32 block_threads() {
  return host_thread().block->block_threads;
}
PARITY_DEVICE u32 lane_id() {
  return thread_x() % 32;
}
PARITY_DEVICE u32 warp_id() {
  return thread_x() / 32;
}

PARITY_DEVICE void block_barrier(u32 line = __builtin_LINE()) {
  HostThread& self = host_thread();
  self.block->services->block_barrier(&self, line);
}
PARITY_DEVICE void warp_barrier(u32 mask, u32 line = __builtin_LINE()) {
  host_rendezvous(HostOperation::warp_barrier, 0, mask, line, nullptr);
}

/// Calls combine(T& into, T from) along the butterfly's tree for every group, in place in
/// the lanes' own arrays, and gives every lane its group's result.
template <u32 Lanes, u32 N, class T, class Combine>
PARITY_DEVICE void host_segment(HostOperation operation, u32 mask, u32 line, T (&v)[N],
                                Combine combine) {
  static_assert(Lanes >= 1 && Lanes <= 32 && (Lanes & (Lanes - 1)) == 0);
  if (Lanes == 1) return;
  void* const* payloads = host_rendezvous(operation, Lanes << 8 | N << 16, mask, line, v);
  if (payloads == nullptr) return;
  constexpr u32 kGroup = Lanes == 32 ? 0xffffffffu : (1u << Lanes % 32) - 1;
  for (u32 first = 0; first < 32; first += Lanes) {
    const u32 present = mask >> first & kGroup;
    if (present == 0) continue;
    if (present != kGroup) host_fault(line, "the mask splits a group of lanes");
    const auto values = [&](u32 lane) { return static_cast<T*>(payloads[first + lane]); };
    for (u32 distance = 1; distance < Lanes; distance *= 2)
      for (u32 lane = 0; lane < Lanes; lane += 2 * distance)
        for (u32 n = 0; n < N; ++n) combine(values(lane)[n], values(lane + distance)[n]);
    for (u32 lane = 1; lane < Lanes; ++lane)
      for (u32 n = 0; n < N; ++n) values(lane)[n] = values(0)[n];
  }
}

template <u32 Lanes, u32 N, class T>
PARITY_DEVICE void segment_sum(u32 mask, T (&v)[N], u32 line = __builtin_LINE()) {
  host_segment<Lanes>(HostOperation::segment_sum, mask, line, v,
                      [](T& into, T from) { into += from; });
}

PARITY_DEVICE float larger_of(float a, float b) {
  // As the GPU's max: a NaN loses to a number, and -0 to +0.
  const bool keep = b != b || a > b || (a == b && !__builtin_signbit(a));
  return keep ? a : b;
}
PARITY_DEVICE u32 larger_of(u32 a, u32 b) {
  return a > b ? a : b;
}

template <u32 Lanes, u32 N, class T>
PARITY_DEVICE void segment_max(u32 mask, T (&v)[N], u32 line = __builtin_LINE()) {
  host_segment<Lanes>(HostOperation::segment_max, mask, line, v,
                      [](T& into, T from) { into = larger_of(into, from); });
}

template <class T>
PARITY_DEVICE T shuffle(u32 mask, T value, u32 source_lane, u32 line = __builtin_LINE()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  struct Payload {
    T value, result;
    u32 source;
  } mine = {value, value, source_lane};
  void* const* payloads =
      host_rendezvous(HostOperation::shuffle, sizeof(T) << 16, mask, line, &mine);
  if (payloads == nullptr) return mine.result;
  for (u32 rest = mask; rest != 0; rest &= rest - 1) {
    auto& to = *static_cast<Payload*>(payloads[__builtin_ctz(rest)]);
    if (to.source >= 32 || (mask >> to.source & 1) == 0)
      host_fault(line, "shuffle reads a lane that is not in the mask");
    to.result = static_cast<const Payload*>(payloads[to.source])->value;
  }
  return mine.result;
}

PARITY_DEVICE u32 host_ballot(HostOperation operation, u32 mask, bool predicate, u32 line) {
  u32 mine = predicate;  // in: the lane's predicate; out: every lane's
  void* const* payloads = host_rendezvous(operation, 0, mask, line, &mine);
  if (payloads == nullptr) return mine;
  u32 votes = 0;
  for (u32 lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) votes |= *static_cast<const u32*>(payloads[lane]) << lane;
  for (u32 lane = 0; lane < 32; ++lane)
    if (mask >> lane & 1) *static_cast<u32*>(payloads[lane]) = votes;
  return votes;
}
PARITY_DEVICE u32 ballot(u32 mask, bool predicate, u32 line = __builtin_LINE()) {
  return host_ballot(HostOperation::ballot, mask, predicate, line);
}
PARITY_DEVICE bool any(u32 mask, bool predicate, u32 line = __builtin_LINE()) {
  return host_ballot(HostOperation::any, mask, predicate, line) != 0;
}

PARITY_DEVICE u32 atomic_add_acq_rel(u32* counter, u32 value) {
  return __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);
}
PARITY_DEVICE i32 atomic_add_acq_rel(i32* counter, i32 value) {
  return __atomic_fetch_add(counter, value, __ATOMIC_ACQ_REL);
}
PARITY_DEVICE void atomic_add_relaxed(u32* counter, u32 value) {
  __atomic_fetch_add(counter, value, __ATOMIC_RELAXED);
}

}  // namespace parity

#endif
