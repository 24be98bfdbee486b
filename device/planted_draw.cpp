// An offset of random numbers that outlives its case, as an engine would have it that counts what
// it draws and forgets to begin anew.
#include "device/planted_draw.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include "device/runtime.hpp"

namespace parity {
namespace {

constexpr const char* kStream = "sampling";

}  // namespace

PlantedDraw::PlantedDraw(Runtime& runtime, Dtype values, const DeviceTensor& step)
    : given_(step.data) {
  if (!runtime.faults().rng_offset_carry || step.type.elements() == 0) return;
  if (values == Dtype::f16) {
    runtime.streams().draw(kStream, 1, runtime.trace());
    return;
  }
  const std::uint64_t offset = runtime.streams().position(kStream, runtime.trace());
  if (offset == 0) return;
  std::vector<std::uint64_t> steps(static_cast<std::size_t>(step.type.elements()));
  runtime.backend().copy_out(std::as_writable_bytes(std::span(steps)), step.data);
  for (std::uint64_t& each : steps) each += offset;
  moved_ = DeviceBuffer(runtime.backend(), step.type.bytes());
  runtime.backend().copy_in(moved_.data(), std::as_bytes(std::span(steps)));
}

const unsigned long long* PlantedDraw::step() const {
  return static_cast<const unsigned long long*>(moved_.data() != nullptr ? moved_.data() : given_);
}

}  // namespace parity
