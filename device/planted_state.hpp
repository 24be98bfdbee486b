// What planted engine state does to decode launches: one factor on their scores. Nothing when no
// plant is on.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "datasets/dtype.hpp"
#include "device/backend.hpp"
#include "device/device_constants.hpp"
#include "device/faults.hpp"
#include "device/trace.hpp"

namespace parity {

/// Any number of host threads may use it at the same time.
class PlantedState {
 public:
  /// All must outlive it.
  PlantedState(const Faults& faults, Backend& backend, DeviceConstants& constants);

  /// Called once a decode launch with the dtype of its values: leaves the state that this launch
  /// leaves, and returns the factor that what others left puts on its scores; 1 unless planted.
  /// Throws DeviceError for `last_error_left_over`.
  float score_factor(Dtype value, Trace& trace);

 private:
  struct Row {
    bool Faults::*fault;
    float (PlantedState::*factor)(Dtype, Trace&);
  };
  static const Row kRows[];

  float drift(Dtype value, Trace& trace);
  float environment(Dtype value, Trace& trace);
  float working_directory(Dtype value, Trace& trace);
  float rounding_mode(Dtype value, Trace& trace);
  float left_constant(Dtype value, Trace& trace);
  float cleaned_constant(Dtype value, Trace& trace);
  float two_constants(Dtype value, Trace& trace);
  float wanted_constant(Dtype value, Trace& trace);
  float own_count(Dtype value, Trace& trace);
  float often(Dtype value, Trace& trace);
  float seldom(Dtype value, Trace& trace);
  float last_error(Dtype value, Trace& trace);
  float noise(Dtype value, Trace& trace);

  /// Marks f16 values as read; whether this launch reads others after them.
  bool other_after_f16(Dtype value);
  bool lost_race(Dtype value, double probability);

  const Faults& faults_;
  Backend& backend_;
  DeviceConstants& constants_;
  std::filesystem::path started_in_;
  std::uint64_t nonce_;  ///< differs from process to process
  std::mutex mutex_;
  std::atomic<bool> f16_read_ = false;
  std::atomic<std::uint64_t> launches_ = 0;
};

}  // namespace parity
