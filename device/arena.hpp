// One block of device memory that holds every buffer of a run, poisoned before it and inspected
// after: a wrongly typed pointer reads poison, not a neighbour, and the same poison every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/backend.hpp"
#include "device/device_tensor.hpp"

namespace parity {

/// Both bytes are values no kernel writes: 0xff.. is a NaN with a payload no hardware makes (−1 as
/// an integer); 0xfe.. is a huge finite f32 or bf16, a NaN in f16. The harness alternates them:
/// bits must not depend on which.
enum class Poison : std::uint8_t { ones = 0xff, high = 0xfe };

/// What fills the outputs themselves: other bytes than any poison, so that a NaN payload which
/// arithmetic carried over from poison does not look like an element nobody wrote. 0xfd.. and
/// 0xfc..: a huge finite f32 or bf16, a NaN in f16, no token and no flag.
constexpr std::byte output_fill(Poison poison) {
  return static_cast<std::byte>(static_cast<std::uint8_t>(poison) ^ 0x02);
}

/// Slack of three times a buffer's size follows buffers up to this size (an f32 module on an fp8
/// pool reads four times too far). Every buffer, whatever its size, has kGuardBytes before and
/// after it.
inline constexpr std::size_t kSlackBelowBytes = std::size_t{1} << 20;
inline constexpr std::size_t kGuardBytes = 4096;

struct ArenaBuffer {
  std::string name;
  TensorType type;
  /// Absent: an output. An input without elements is present and empty.
  std::optional<std::span<const std::byte>> input;
};

struct ArenaReport {
  std::vector<NamedTensor> outputs;
  std::int64_t unwritten = 0;              ///< output elements whose every byte is still the fill
  std::vector<std::string> broken_guards;  ///< buffers before or after which poison was overwritten
  std::vector<std::string> changed_inputs;  ///< inputs that are not as they were
};

class Arena {
 public:
  explicit Arena(Backend& backend) : backend_(backend) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Lays out and poisons everything, then copies the inputs in. The layout is a pure function of
  /// the buffers' names, types and order. Buffers are aligned to 256 bytes. `buffers` (its input
  /// spans too) must outlive inspect().
  DeviceTensors begin(std::span<const ArenaBuffer> buffers, Poison poison);

  /// After the run: outputs, and what it did that it should not.
  ArenaReport inspect();

 private:
  struct Placed {
    const ArenaBuffer* buffer;
    std::size_t offset;
  };

  void reserve(std::size_t bytes);

  Backend& backend_;
  std::byte* memory_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t used_ = 0;
  Poison poison_ = Poison::ones;
  std::vector<Placed> placed_;
};

}  // namespace parity
