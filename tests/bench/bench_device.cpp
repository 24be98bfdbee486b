// Cold timing and the read-only ceiling.
#include "tests/bench/bench_device.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "device/read_stream.hpp"
#include "tests/bench/bench_data.hpp"

namespace parity {
namespace {

/// The last cache of a B200 holds 126 MiB.
constexpr std::size_t kGpuRotationBytes = std::size_t{256} << 20;
constexpr std::size_t kHostRotationBytes = std::size_t{64} << 10;
/// Per multiprocessor of a GPU.
constexpr std::int64_t kEvictingBlocks = 8;
constexpr std::array<std::int64_t, 4> kCeilingBlocks = {2, 4, 8, 16};
/// More blocks than pieces of this size would be idle.
constexpr std::size_t kBytesPerBlock = 2048;
constexpr int kGpuCeilingRuns = 50;
constexpr int kHostCeilingRuns = 5;
/// A GPU that was idle takes a while to raise its clocks.
constexpr double kWarmUpSeconds = 0.3;

DeviceBuffer patterned(Backend& backend, std::size_t bytes) {
  DeviceBuffer buffer(backend, bytes);
  const auto elements = static_cast<std::int64_t>(bytes / size_of(Dtype::bf16));
  fill_pattern(backend, {{Dtype::bf16, {elements}}, buffer.data()});
  return buffer;
}

}  // namespace

BenchDevice::BenchDevice(BackendKind kind, const std::filesystem::path& modules)
    : runtime_(make_runtime(kind, modules)), stopwatch_(runtime_->backend().stopwatch()) {
  Backend& backend = runtime_->backend();
  const std::int64_t most = kCeilingBlocks.back() * backend.identity().multiprocessors;
  sums_ = DeviceBuffer(backend, static_cast<std::size_t>(most) * sizeof(std::int32_t));
  evicting_ = patterned(backend, rotation_bytes());
  if (!on_gpu()) return;
  for (double busy = 0; busy < kWarmUpSeconds;) busy += cold_seconds([&] { evict(); });
}

bool BenchDevice::on_gpu() const {
  return runtime_->backend().name() == "cuda";
}

std::size_t BenchDevice::rotation_bytes() const {
  return on_gpu() ? kGpuRotationBytes : kHostRotationBytes;
}

void BenchDevice::read(const DeviceBuffer& buffer, std::size_t bytes, std::int64_t blocks) {
  read_stream(*runtime_, {.input = {{Dtype::u8, {static_cast<std::int64_t>(bytes)}}, buffer.data()},
                          .sums = {{Dtype::i32, {blocks}}, sums_.data()},
                          .blocks = blocks});
}

void BenchDevice::evict() {
  // The emulator's time goes into blocks, so there one reads all.
  const std::int64_t multiprocessors = runtime_->backend().identity().multiprocessors;
  read(evicting_, evicting_.bytes(), on_gpu() ? kEvictingBlocks * multiprocessors : 1);
}

double BenchDevice::cold_seconds(const std::function<void()>& work) {
  runtime_->trace().begin("bench");  // forgets the touches of the launches before
  evict();
  stopwatch_->start();
  work();
  stopwatch_->stop();
  return stopwatch_->seconds();
}

double BenchDevice::mean_read_seconds(std::size_t bytes, std::int64_t blocks) {
  const auto once = [&] { return cold_seconds([&] { read(stream_, bytes, blocks); }); };
  once();  // the first loads the module
  const int runs = on_gpu() ? kGpuCeilingRuns : kHostCeilingRuns;
  double total = 0;
  for (int run = 0; run < runs; ++run) total += once();
  return total / runs;
}

double BenchDevice::ceiling_seconds(std::size_t bytes) {
  bytes = (bytes + 15) / 16 * 16;
  const auto known = ceilings_.find(bytes);
  if (known != ceilings_.end()) return known->second;
  if (stream_.bytes() < bytes) stream_ = patterned(runtime_->backend(), bytes);
  const std::int64_t multiprocessors = runtime_->backend().identity().multiprocessors;
  const auto pieces = static_cast<std::int64_t>((bytes + kBytesPerBlock - 1) / kBytesPerBlock);
  double least = on_gpu() ? std::numeric_limits<double>::infinity() : mean_read_seconds(bytes, 1);
  for (const std::int64_t blocks : kCeilingBlocks)
    least = std::min(least, mean_read_seconds(bytes, std::min(pieces, blocks * multiprocessors)));
  return ceilings_.emplace(bytes, least).first->second;
}

}  // namespace parity
