// Rows to sample by rejection whose inputs a test may change, and a runtime that samples them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/arena.hpp"
#include "device/rejection_sample.hpp"
#include "device/runtime.hpp"

namespace parity {

struct Drawn {
  std::vector<std::int64_t> token, ok, rounds;

  bool operator==(const Drawn&) const = default;
};

struct RejectionProblem {
  /// Inputs of the case `id`, which is without the kernel's name.
  explicit RejectionProblem(const std::string& id);
  /// The same values in every row, in a dtype of `probs`; filters off; seed 1, step r in row r.
  RejectionProblem(Dtype probs, std::int64_t rows, const std::vector<double>& values,
                   Dtype filter = Dtype::f32);

  std::int64_t rows() const { return probs.shape()[0]; }
  std::int64_t vocabulary() const { return probs.shape()[1]; }
  void set(std::int64_t row, std::int64_t token, double value) {
    probs.set(row * vocabulary() + token, value);
  }
  /// Of every row.
  void filter_by(double k, double p, double m);
  void draw_by(const std::vector<double>& values);
  void set_step(std::int64_t row, std::uint64_t value);
  /// The same rows in another order: row i of the result is row order[i].
  RejectionProblem reordered(const std::vector<std::int64_t>& rows) const;
  /// What the reference says.
  Drawn expected() const;

  Tensor probs, top_k, top_p, min_p, seed, step;
  std::optional<Tensor> draw;
  FilterOrder order = FilterOrder::joint;
};

class RejectionRun {
 public:
  explicit RejectionRun(const Faults& faults = {});

  Runtime& runtime() { return *runtime_; }
  /// Arguments in device memory, until the next call; `problem` must live as long.
  RejectionSampleArgs place(const RejectionProblem& problem, Poison poison = Poison::ones);
  /// Also expects that nothing but the outputs was written, and they wholly.
  Drawn sample(const RejectionProblem& problem, std::int64_t splits = 1,
               Poison poison = Poison::ones);
  /// What the outputs of the last place() hold.
  Drawn read();

 private:
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Arena> arena_;  ///< goes before the runtime
  std::vector<ArenaBuffer> buffers_;
};

}  // namespace parity
