// How long a candidate takes: by a recorded model, or by running it.
#pragma once

#include <functional>

#include "device/backend.hpp"
#include "device/tuning_key.hpp"

namespace parity {

class TuningClock {
 public:
  virtual ~TuningClock() = default;
  /// Compared only with times of the same key by the same clock.
  virtual double time(const TuningKey& key, const TunedPlan& plan) const = 0;
};

/// A pure function of key and plan: waves of blocks, each as long as its chunk's bytes and what a
/// block costs beside them, then the merge.
class RecordedClock final : public TuningClock {
 public:
  double time(const TuningKey& key, const TunedPlan& plan) const override;
};

/// Runs each candidate and takes the least of a few times in seconds.
class LiveClock final : public TuningClock {
 public:
  /// Makes a plan ready once; what it returns starts the kernels, as often as it is called.
  using Prepare = std::function<std::function<void()>(const TunedPlan&)>;

  /// `backend` must outlive this.
  LiveClock(Backend& backend, Prepare prepare);

  /// Throws what a launch throws.
  double time(const TuningKey& key, const TunedPlan& plan) const override;

 private:
  Backend& backend_;
  Prepare prepare_;
};

}  // namespace parity
