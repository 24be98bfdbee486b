// Lays the buffers of a run out in one poisoned block, and reads back what the run did to it.
#include "device/arena.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kWholeDownload = std::size_t{64} << 20;
constexpr std::size_t kPiece = std::size_t{16} << 20;

std::size_t aligned(std::size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

/// First byte behind a buffer's slack and guard.
std::size_t zone_end(std::size_t offset, std::size_t bytes) {
  const std::size_t slack = bytes <= kSlackBelowBytes ? 3 * bytes : 0;
  return aligned(offset + bytes + slack + kGuardBytes);
}

/// Reads the block in pieces, or, where it is small, once.
class Download {
 public:
  Download(Backend& backend, const std::byte* memory, std::size_t used)
      : backend_(backend), memory_(memory), whole_(used <= kWholeDownload ? used : 0) {
    if (!whole_.empty()) backend_.copy_out(whole_, memory_);
  }

  /// `holds(bytes, position)` for consecutive pieces from `begin`, until one says no.
  bool all_of(std::size_t begin, std::size_t end,
              const std::function<bool(std::span<const std::byte>, std::size_t)>& holds) {
    if (!whole_.empty()) return holds(std::span(whole_).subspan(begin, end - begin), 0);
    for (std::size_t at = begin; at < end; at += kPiece) {
      piece_.resize(std::min(kPiece, end - at));
      backend_.copy_out(piece_, memory_ + at);
      if (!holds(piece_, at - begin)) return false;
    }
    return true;
  }

  void read(std::span<std::byte> to, std::size_t begin) {
    if (whole_.empty()) {
      backend_.copy_out(to, memory_ + begin);
    } else if (!to.empty()) {
      std::memcpy(to.data(), whole_.data() + begin, to.size());
    }
  }

 private:
  Backend& backend_;
  const std::byte* memory_;
  std::vector<std::byte> whole_;
  std::vector<std::byte> piece_;
};

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return bytes.empty() || (bytes.front() == value &&
                           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

std::int64_t count_unwritten(const Tensor& tensor, std::byte fill) {
  const std::size_t size = size_of(tensor.dtype());
  std::int64_t count = 0;
  for (std::size_t at = 0; at < tensor.bytes().size(); at += size)
    count += all_are(tensor.bytes().subspan(at, size), fill);
  return count;
}

}  // namespace

Arena::~Arena() {
  if (memory_ != nullptr) backend_.release(memory_);
}

DeviceTensors Arena::begin(std::span<const ArenaBuffer> buffers, Poison poison) {
  placed_.clear();
  poison_ = poison;
  used_ = 0;
  for (const ArenaBuffer& buffer : buffers) {
    const std::size_t bytes = buffer.type.bytes();
    if (buffer.input && buffer.input->size() != bytes)
      throw UsageError(fmt::format("input '{}' is {} ({} bytes), but {} bytes were given",
                                   buffer.name, buffer.type.to_string(), bytes,
                                   buffer.input->size()));
    const std::size_t offset = used_ + kGuardBytes;
    placed_.push_back({&buffer, offset});
    used_ = zone_end(offset, bytes);
  }
  reserve(used_);
  backend_.fill(memory_, static_cast<std::byte>(poison), used_);
  DeviceTensors tensors;
  for (const auto& [buffer, offset] : placed_) {
    if (buffer->input)
      backend_.copy_in(memory_ + offset, *buffer->input);
    else
      backend_.fill(memory_ + offset, output_fill(poison), buffer->type.bytes());
    tensors.list.push_back({buffer->name, {buffer->type, memory_ + offset}});
  }
  return tensors;
}

void Arena::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  if (memory_ != nullptr) backend_.release(std::exchange(memory_, nullptr));
  capacity_ = 0;
  memory_ = static_cast<std::byte*>(backend_.allocate(bytes));
  capacity_ = bytes;
}

ArenaReport Arena::inspect() {
  const auto poison = static_cast<std::byte>(poison_);
  const auto poisoned = [poison](std::span<const std::byte> bytes, std::size_t) {
    return all_are(bytes, poison);
  };
  Download download(backend_, memory_, used_);
  ArenaReport report;
  std::size_t zone = 0;
  for (const auto& [placed, offset] : placed_) {
    const ArenaBuffer* buffer = placed;
    const std::size_t end = offset + buffer->type.bytes();
    const std::size_t next = zone_end(offset, buffer->type.bytes());
    if (!download.all_of(zone, offset, poisoned) || !download.all_of(end, next, poisoned))
      report.broken_guards.push_back(buffer->name);
    zone = next;
    if (buffer->input) {
      const auto unchanged = [buffer](std::span<const std::byte> bytes, std::size_t at) {
        return bytes.empty() ||
               std::memcmp(bytes.data(), buffer->input->data() + at, bytes.size()) == 0;
      };
      if (!download.all_of(offset, end, unchanged)) report.changed_inputs.push_back(buffer->name);
      continue;
    }
    Tensor& output = report.outputs.emplace_back(buffer->name, Tensor(buffer->type)).tensor;
    download.read(output.bytes(), offset);
    report.unwritten += count_unwritten(output, output_fill(poison_));
  }
  return report;
}

}  // namespace parity
