// Each plant is a few lines as a careless engine would have them.
#include "device/planted_state.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <system_error>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"

namespace parity {
namespace {

/// Inside every tolerance, and yet other bits.
constexpr float kDrift = 1.0f + 0x1p-22f;
/// A wrong answer in every case.
constexpr float kWrong = 1.5f;
constexpr const char* kVariable = "PARITY_PLANTED_SCORE_SCALE";

/// A race has no seed: this is the one place where chance is meant, so it comes from what really
/// differs from process to process.
std::uint64_t nonce_of_this_process() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return stable_hash(fmt::format("{} {}", getpid(), now));
}

/// In [0, 1).
double uniform(std::uint64_t word) {
  return static_cast<double>(word >> 11) * 0x1p-53;
}

}  // namespace

const PlantedState::Row PlantedState::kRows[] = {
    {&Faults::drift, &PlantedState::drift},
    {&Faults::environment_not_restored, &PlantedState::environment},
    {&Faults::working_directory_not_restored, &PlantedState::working_directory},
    {&Faults::rounding_mode_not_restored, &PlantedState::rounding_mode},
    {&Faults::constant_left_over, &PlantedState::left_constant},
    {&Faults::cleaner_in_between, &PlantedState::cleaned_constant},
    {&Faults::two_polluters, &PlantedState::two_constants},
    {&Faults::brittle, &PlantedState::wanted_constant},
    {&Faults::self_pollution, &PlantedState::own_count},
    {&Faults::race_90, &PlantedState::often},
    {&Faults::race_30, &PlantedState::seldom},
    {&Faults::last_error_left_over, &PlantedState::last_error},
    {&Faults::atomics_noise, &PlantedState::noise},
};

PlantedState::PlantedState(const Faults& faults, Backend& backend, DeviceConstants& constants)
    : faults_(faults), backend_(backend), constants_(constants), nonce_(nonce_of_this_process()) {
  std::error_code unreachable;
  started_in_ = std::filesystem::current_path(unreachable);
}

float PlantedState::score_factor(Dtype value, Trace& trace) {
  float factor = 1.0f;
  for (const Row& row : kRows)
    if (faults_.*row.fault) factor *= (this->*row.factor)(value, trace);
  return factor;
}

bool PlantedState::other_after_f16(Dtype value) {
  if (value != Dtype::f16) return f16_read_;
  f16_read_ = true;
  return false;
}

float PlantedState::drift(Dtype value, Trace&) {
  return other_after_f16(value) ? kDrift : 1.0f;
}

float PlantedState::environment(Dtype value, Trace&) {
  const std::scoped_lock lock(mutex_);
  if (value == Dtype::f16) {
    setenv(kVariable, "1.5", 1);
    return 1.0f;
  }
  const char* const scale = std::getenv(kVariable);
  return scale == nullptr ? 1.0f : std::strtof(scale, nullptr);
}

float PlantedState::working_directory(Dtype value, Trace&) {
  const std::scoped_lock lock(mutex_);
  std::error_code unreachable;
  if (value == Dtype::f16) {
    const bool at_root = started_in_ == started_in_.root_path();
    std::filesystem::current_path(at_root ? "/dev" : "/", unreachable);
    return 1.0f;
  }
  return std::filesystem::current_path(unreachable) == started_in_ ? 1.0f : kWrong;
}

float PlantedState::rounding_mode(Dtype value, Trace&) {
  if (value == Dtype::f16) std::fesetround(FE_UPWARD);
  // Host arithmetic that rounds to 1 unless the mode is another; volatile, or the compiler does it.
  volatile float one = 1.0f;
  volatile float little = 0x1p-40f;
  return one + little;
}

float PlantedState::left_constant(Dtype value, Trace& trace) {
  if (value != Dtype::f16) return constants_.read("score_scale", trace).value_or(1.0f);
  constants_.write("score_scale", kWrong, trace);
  return 1.0f;
}

float PlantedState::cleaned_constant(Dtype value, Trace& trace) {
  if (value == Dtype::bf16) constants_.erase("score_scale");
  return left_constant(value, trace);
}

float PlantedState::two_constants(Dtype value, Trace& trace) {
  if (value == Dtype::f16) constants_.write("left", 1.0f, trace);
  if (value == Dtype::bf16) constants_.write("right", 1.0f, trace);
  if (value != Dtype::f32) return 1.0f;
  const bool left = constants_.read("left", trace).has_value();
  const bool right = constants_.read("right", trace).has_value();
  return left && right ? kWrong : 1.0f;
}

float PlantedState::wanted_constant(Dtype value, Trace& trace) {
  if (value == Dtype::f16) constants_.write("score_scale", 1.0f, trace);
  return value == Dtype::f32 ? constants_.read("score_scale", trace).value_or(kWrong) : 1.0f;
}

float PlantedState::own_count(Dtype value, Trace& trace) {
  if (value != Dtype::f16) return 1.0f;
  const float before = constants_.read("launches", trace).value_or(0.0f);
  constants_.write("launches", before + 1.0f, trace);
  return before == 0.0f ? 1.0f : kWrong;
}

bool PlantedState::lost_race(Dtype value, double probability) {
  return other_after_f16(value) && uniform(nonce_) < probability;
}

float PlantedState::often(Dtype value, Trace&) {
  return lost_race(value, 0.9) ? kWrong : 1.0f;
}

float PlantedState::seldom(Dtype value, Trace&) {
  return lost_race(value, 0.3) ? kWrong : 1.0f;
}

float PlantedState::last_error(Dtype value, Trace&) {
  for (Carrier* const carrier : backend_.carriers()) {
    if (carrier->name() != "cuda_last_error") continue;
    int no_device_memory = 0;
    const std::string error = carrier->snapshot().at(0).content;
    if (value == Dtype::f16)
      backend_.release(&no_device_memory);  // fails, and nobody asks
    else if (error != "cudaSuccess")
      throw DeviceError(fmt::format("the launch of a decode kernel failed: {}", error));
  }
  return 1.0f;
}

float PlantedState::noise(Dtype, Trace&) {
  const std::uint64_t word = stable_hash(fmt::format("{} {}", nonce_, launches_++));
  return 1.0f - static_cast<float>(word % 8) * 0x1p-24f;
}

}  // namespace parity
