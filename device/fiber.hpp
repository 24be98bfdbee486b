// Fibers for the SIMT emulator: a suspended execution context on a pooled stack, known to the
// sanitizers. Nothing here outlives its owner, and an abandoned fiber is dropped without unwinding
// its stack.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "device/sanitizers.hpp"

namespace parity {

/// Stack slots (host_abi.cuh: kStackSlotBytes, aligned to that, with a guard page at the low end)
/// that are mapped once and kept until destruction.
class StackSlots {
 public:
  StackSlots() = default;
  ~StackSlots();
  StackSlots(const StackSlots&) = delete;
  StackSlots& operator=(const StackSlots&) = delete;

  /// Makes at least `count` slots. Throws DeviceError when memory cannot be mapped.
  void grow(std::size_t count);
  std::size_t size() const { return slots_.size(); }
  /// Lowest address of slot `index`.
  std::byte* operator[](std::size_t index) const { return slots_[index]; }

 private:
  struct Mapping {
    void* address;
    std::size_t bytes;
  };
  std::vector<Mapping> mappings_;
  std::vector<std::byte*> slots_;
};

class Fiber {
 public:
  using Body = void (*)(void* argument);

  /// Stands for the context of whoever switches away from it.
  Fiber() {}
  /// A suspended fiber is abandoned: its stack is not unwound and may be used again.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// At the first switch to it, runs `body(argument)`, which must not return, on the stack in
  /// `slot`, with the floating-point mode of this call. May be called again to abandon what ran
  /// there.
  void prepare(std::byte* slot, Body body, void* argument);

  /// Called on a Fiber() by the thread that is about to switch away from it.
  void adopt_current();

  /// Suspends this fiber, which must be the running one, until somebody switches back to it.
  void switch_to(Fiber& to) noexcept {
    to.resumed_by_ = this;
#if PARITY_ASAN
    __sanitizer_start_switch_fiber(&fake_stack_, to.stack_bottom_, to.stack_bytes_);
#endif
#if PARITY_TSAN
    __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
    boost::context::fiber previous = std::move(to.context_).resume();
    arrive(std::move(previous));
  }

 private:
  /// First thing after every switch, on the stack of this fiber.
  void arrive(boost::context::fiber&& previous) noexcept {
#if PARITY_ASAN
    __sanitizer_finish_switch_fiber(fake_stack_, &resumed_by_->stack_bottom_,
                                    &resumed_by_->stack_bytes_);
#endif
    std::construct_at(&resumed_by_->context_, std::move(previous));
  }
  void release_sanitizer_state() noexcept;

  union {
    boost::context::fiber context_;  // never destroyed: that would unwind the stack
  };
  Fiber* resumed_by_ = nullptr;
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  bool prepared_ = false;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace parity
