// Mapping of stacks, and the making and abandoning of fibers.
#include "device/fiber.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/preallocated.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>

#include "datasets/errors.hpp"
#include "device/kernels/host_abi.cuh"

namespace parity {
namespace {

// The fiber's stack belongs to StackSlots.
struct BorrowedStack {
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

StackSlots::~StackSlots() {
  for (const Mapping& mapping : mappings_) munmap(mapping.address, mapping.bytes);
}

void StackSlots::grow(std::size_t count) {
  if (count <= slots_.size()) return;
  const std::size_t added = count - slots_.size();
  slots_.reserve(count);
  mappings_.reserve(mappings_.size() + 1);
  const std::size_t bytes = (added + 1) * kStackSlotBytes;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    throw DeviceError(
        fmt::format("the host backend needs {} MiB of address space for {} thread "
                    "stacks: {}; raise the limit (ulimit -v)",
                    bytes >> 20, added, std::strerror(errno)));
  mappings_.push_back({address, bytes});
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const std::uintptr_t first = (begin + kStackSlotBytes - 1) / kStackSlotBytes * kStackSlotBytes;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < added; ++i) {
    auto* slot = reinterpret_cast<std::byte*>(first + i * kStackSlotBytes);
    if (mprotect(slot, page, PROT_NONE) != 0)
      throw DeviceError(fmt::format("the guard page of a host thread's stack cannot be set: {}",
                                    std::strerror(errno)));
    slots_.push_back(slot);
  }
}

Fiber::~Fiber() {
  release_sanitizer_state();
}

void Fiber::release_sanitizer_state() noexcept {
#if PARITY_TSAN
  if (prepared_) __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void Fiber::prepare(std::byte* slot, Body body, void* argument) {
  release_sanitizer_state();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto bottom = reinterpret_cast<std::uintptr_t>(slot) + page;
  // Everything above is the HostThread and the colour's padding.
  const std::uintptr_t top = host_thread_address(bottom);
  stack_bottom_ = reinterpret_cast<void*>(bottom);
  stack_bytes_ = top - bottom;
  fake_stack_ = nullptr;
#if PARITY_ASAN
  __asan_unpoison_memory_region(slot + page, kStackSlotBytes - page);
#endif
  boost::context::stack_context stack;
  stack.sp = reinterpret_cast<void*>(top);
  stack.size = stack_bytes_;
#if PARITY_TSAN
  // Making a fiber runs its first lines.
  void* const maker = __tsan_get_current_fiber();
  tsan_fiber_ = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(tsan_fiber_, 0);
#endif
  std::construct_at(
      &context_, std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
      BorrowedStack{},
      [this, body, argument](boost::context::fiber&& caller) noexcept -> boost::context::fiber {
        arrive(std::move(caller));
        body(argument);
        std::terminate();
      });
#if PARITY_TSAN
  __tsan_switch_to_fiber(maker, 0);
#endif
  prepared_ = true;
}

void Fiber::adopt_current() {
#if PARITY_TSAN
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

}  // namespace parity
