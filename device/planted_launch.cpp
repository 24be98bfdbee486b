// Faults of launches, as a faulty kernel or engine would show them.
#include "device/planted_launch.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "device/runtime.hpp"

namespace parity {
namespace {

/// How far a planted write goes.
constexpr std::size_t kStrayBytes = 16;
/// No poison, no fill and no likely result.
constexpr std::byte kStray{0x5a};

bool struck(const VariantSpec& variant) {
  std::vector<Dtype> dtypes;
  for (const auto& [axis, dtype] : variant.dtypes) dtypes.push_back(dtype);
  return strikes(dtypes);
}

/// The parameters with a null wherever they hold `pointer`.
std::vector<std::byte> without(std::span<const std::byte> params, const void* pointer) {
  std::vector<std::byte> nulled(params.begin(), params.end());
  for (std::size_t at = 0; at + sizeof pointer <= nulled.size(); at += sizeof pointer)
    if (std::memcmp(&nulled[at], &pointer, sizeof pointer) == 0)
      std::memset(&nulled[at], 0, sizeof pointer);
  return nulled;
}

}  // namespace

PlantedLaunch::PlantedLaunch(const Faults& faults, Backend& backend, const Launch& launch,
                             const void*& awaited)
    : faults_(faults), backend_(backend), launch_(launch), struck_(struck(launch.variant)) {
  const bool in_its_stead = launch.writes_output && awaited == launch.output.data;
  lacks_block_ = faults.unwritten_output && launch.writes_output && (struck_ || in_its_stead);
  awaited = struck_ && !launch.writes_output ? launch.output.data : nullptr;
  if (struck_ && faults.sticky_error) nulled_ = without(launch.params, launch.input.data);
}

LaunchShape PlantedLaunch::shape() const {
  LaunchShape shape = launch_.shape;
  if (lacks_block_ && shape.grid.x > 0) --shape.grid.x;
  return shape;
}

std::span<const std::byte> PlantedLaunch::params() const {
  return nulled_.empty() ? launch_.params : nulled_;
}

void PlantedLaunch::before() const {
  if (struck_ && faults_.abort) std::abort();
  while (struck_ && faults_.hang) pause();
}

void PlantedLaunch::after() const {
  if (!struck_ || !(faults_.overrun || faults_.input_overwritten)) return;
  backend_.synchronize();
  if (faults_.overrun)
    backend_.fill(static_cast<std::byte*>(launch_.output.data) + launch_.output.type.bytes(),
                  kStray, kStrayBytes);
  if (faults_.input_overwritten)
    backend_.fill(launch_.input.data, kStray, std::min(kStrayBytes, launch_.input.type.bytes()));
}

}  // namespace parity
