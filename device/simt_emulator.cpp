// Scheduling of the running block's threads and their rendezvous. A thread that must wait switches
// straight to the next that can run; the one that arrives last goes on without a switch.
#include "device/simt_emulator.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "device/block_memory.hpp"
#include "device/fiber.hpp"
#include "device/kernels/host_abi.cuh"
#include "device/simt_block.hpp"

namespace parity {
namespace {

// The control part of the floating-point environment: fibers keep the one that they were made
// under.
u64 floating_point_mode() {
#if defined(__x86_64__)
  std::uint16_t x87 = 0;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return u64{x87} << 32 | (__builtin_ia32_stmxcsr() & ~0x3fu);
#else
  return 0;  // not part of a context there: all share the thread's
#endif
}

// Threads that can run, first in, first out.
class RunQueue {
 public:
  bool empty() const { return first_ == end_; }
  void push(u32 thread) { threads_[end_++ % kMaxBlockThreads] = static_cast<u16>(thread); }
  u32 pop() { return threads_[first_++ % kMaxBlockThreads]; }
  void clear() { first_ = end_ = 0; }

 private:
  std::array<u16, kMaxBlockThreads> threads_;
  u32 first_ = 0;
  u32 end_ = 0;
};

}  // namespace

class SimtEmulator::Block : public HostBlock {
 public:
  Block() : HostBlock{0, 0, 1, 0, nullptr, &kServices} { dynamic_shared = memory_.dynamic(); }

  void run(const SimtLaunch& launch);

 private:
  static const HostServices kServices;

  static Block& of(HostThread* thread) { return static_cast<Block&>(*thread->block); }
  static void run_thread(void* host_thread);

  void prepare_fibers();
  void run_block();
  void suspend(u32 thread) { fibers_[thread]->switch_to(next()); }
  Fiber& next() { return ready_.empty() ? launcher_ : *fibers_[ready_.pop()]; }
  [[noreturn]] void fail(const SimtFault& fault);
  void* const* meet(u32 thread, u32 mask, u32 operation, u32 line, void* payload);
  Meeting& find_meeting(Warp& warp, u32 mask);
  void wait_at_barrier(u32 thread, u32 line);
  void open_barrier();
  void exit_thread(u32 thread);

  const SimtLaunch* launch_ = nullptr;
  u32 live_ = 0;  // threads of this block that have not exited
  RunQueue ready_;
  BarrierState barrier_;
  std::vector<Warp> warps_;
  std::optional<SimtFault> fault_;
  BlockMemory memory_;
  StackSlots stacks_;
  Fiber launcher_;
  std::vector<std::unique_ptr<Fiber>> fibers_;  // by thread
  std::size_t prepared_ = 0;                    // fibers that wait for a thread to run
  u64 prepared_mode_ = 0;
};

const HostServices SimtEmulator::Block::kServices = {
    .rendezvous =
        [](HostThread* self, u32 mask, u32 operation, u32 line, void* payload) {
          return of(self).meet(self->thread_x, mask, operation, line, payload);
        },
    .block_barrier = [](HostThread* self,
                        u32 line) { of(self).wait_at_barrier(self->thread_x, line); },
    .shared_array =
        [](HostThread* self, const void* declaration, u64 bytes, u32 line) {
          void* const array = of(self).memory_.array(declaration, bytes);
          if (array == nullptr)
            of(self).fail(
                {self->thread_x, line, "more shared memory than the 227 KiB of a block", {}});
          return array;
        },
    .fault =
        [](HostThread* self, u32 line, const char* what) {
          of(self).fail({self->thread_x, line, what, {}});
        },
};

void SimtEmulator::Block::run(const SimtLaunch& launch) {
  if (launch.block_threads == 0 || launch.block_threads > kMaxBlockThreads)
    throw DeviceError(
        fmt::format("kernel '{}' was launched with {} threads a block; 1 to {} can run",
                    launch.kernel, launch.block_threads, kMaxBlockThreads));
  if (launch.dynamic_shared_bytes > kMaxSharedBytes)
    throw DeviceError(
        fmt::format("kernel '{}' was launched with {} bytes of shared memory; a block has {}",
                    launch.kernel, launch.dynamic_shared_bytes, kMaxSharedBytes));
  launch_ = &launch;
  grid_x = launch.grid_x;
  block_threads = launch.block_threads;
  memory_.begin_launch(launch.dynamic_shared_bytes);
  launcher_.adopt_current();
  prepare_fibers();
  for (block_y = 0; block_y < launch.grid_y; ++block_y)
    for (block_x = 0; block_x < launch.grid_x; ++block_x) run_block();
}

void SimtEmulator::Block::prepare_fibers() {
  const u64 mode = floating_point_mode();
  if (mode != prepared_mode_) prepared_ = 0;
  prepared_mode_ = mode;
  stacks_.grow(block_threads);
  while (fibers_.size() < block_threads) fibers_.push_back(std::make_unique<Fiber>());
  warps_.resize((fibers_.size() + 31) / 32);
  for (; prepared_ < block_threads; ++prepared_) {
    std::byte* const slot = stacks_[prepared_];
    auto* const thread = std::construct_at(
        reinterpret_cast<HostThread*>(host_thread_address(reinterpret_cast<std::uintptr_t>(slot))),
        HostThread{this, static_cast<u32>(prepared_)});
    fibers_[prepared_]->prepare(slot, &run_thread, thread);
  }
}

void SimtEmulator::Block::run_block() {
  memory_.begin_block();
  live_ = block_threads;
  barrier_.arrived = 0;
  fault_.reset();
  ready_.clear();
  for (u32 thread = 0; thread < block_threads; ++thread) {
    ready_.push(thread);
    barrier_.waiting[thread] = false;
  }
  for (u32 warp = 0; warp * 32 < block_threads; ++warp) warps_[warp].open = warps_[warp].exited = 0;

  launcher_.switch_to(next());
  if (live_ == 0) return;
  prepared_ = 0;  // the fibers that still wait are abandoned
  throw DeviceError(fmt::format("kernel '{}', block ({}, {}), lines of its rendered text: {}",
                                launch_->kernel, block_x, block_y,
                                fault_
                                    ? describe_fault(*fault_)
                                    : describe_deadlock(warps_.data(), block_threads, barrier_)));
}

void SimtEmulator::Block::run_thread(void* host_thread) {
  auto* const thread = static_cast<HostThread*>(host_thread);
  Block& block = of(thread);
  while (true) {
    block.launch_->entry(block.launch_->params);
    block.exit_thread(thread->thread_x);
  }
}

void SimtEmulator::Block::fail(const SimtFault& fault) {
  fault_ = fault;
  fibers_[fault.thread]->switch_to(launcher_);
  std::terminate();  // an abandoned fiber is never resumed
}

void* const* SimtEmulator::Block::meet(u32 thread, u32 mask, u32 operation, u32 line,
                                       void* payload) {
  Warp& warp = warps_[thread / 32];
  const u32 lane = thread % 32;
  if ((mask >> lane & 1) == 0)
    fail({thread, line, "the mask of a collective leaves out the lane that calls it", {}});
  Meeting& meeting = find_meeting(warp, mask);
  if (meeting.arrived == 0) {
    meeting.operation = operation;
    meeting.line = line;
  } else if (meeting.operation != operation || meeting.line != line) {
    fail({thread, line, "other lanes of its mask are in another collective", meeting.line});
  }
  meeting.arrived |= 1u << lane;
  meeting.payloads[lane] = payload;
  if (meeting.arrived != mask) {
    suspend(thread);
    return nullptr;
  }
  // Nobody else can open a meeting in this place before the caller has used the payloads and waits
  // again.
  warp.open &= ~(1u << (&meeting - warp.meetings.data()));
  for (u32 others = mask & ~(1u << lane); others != 0; others &= others - 1)
    ready_.push(thread - lane + static_cast<u32>(__builtin_ctz(others)));
  return meeting.payloads.data();
}

Meeting& SimtEmulator::Block::find_meeting(Warp& warp, u32 mask) {
  for (u32 open = warp.open; open != 0; open &= open - 1) {
    Meeting& meeting = warp.meetings[static_cast<u32>(__builtin_ctz(open))];
    if (meeting.mask == mask) return meeting;
  }
  const auto place = static_cast<u32>(__builtin_ctz(~warp.open));
  warp.open |= 1u << place;
  warp.meetings[place].mask = mask;
  warp.meetings[place].arrived = 0;
  return warp.meetings[place];
}

void SimtEmulator::Block::wait_at_barrier(u32 thread, u32 line) {
  if (barrier_.arrived == 0)
    barrier_.line = line;
  else if (barrier_.line != line)
    fail({thread, line, "other threads of its block are in another block_barrier", barrier_.line});
  barrier_.waiting[thread] = true;
  ++barrier_.arrived;
  if (barrier_.arrived != live_) return suspend(thread);
  barrier_.waiting[thread] = false;
  open_barrier();
}

void SimtEmulator::Block::open_barrier() {
  barrier_.arrived = 0;
  for (u32 thread = 0; thread < block_threads; ++thread)
    if (std::exchange(barrier_.waiting[thread], false)) ready_.push(thread);
}

void SimtEmulator::Block::exit_thread(u32 thread) {
  warps_[thread / 32].exited |= 1u << thread % 32;
  --live_;
  if (barrier_.arrived != 0 && barrier_.arrived == live_) open_barrier();
  suspend(thread);
}

SimtEmulator::SimtEmulator() : block_(std::make_unique<Block>()) {}
SimtEmulator::~SimtEmulator() = default;
void SimtEmulator::run(const SimtLaunch& launch) {
  block_->run(launch);
}

}  // namespace parity
