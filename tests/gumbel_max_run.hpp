// Rows to sample whose inputs a test may change, and a runtime that samples them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/arena.hpp"
#include "device/gumbel_max_sample.hpp"
#include "device/runtime.hpp"
#include "reference/gumbel_max_sample.hpp"

namespace parity {

struct GumbelProblem {
  /// Inputs of the case `id`, which is without the kernel's name.
  explicit GumbelProblem(const std::string& id);
  /// Logits of 0, temperature 1, seed 1, and step r in row r.
  GumbelProblem(Dtype dtype, std::int64_t rows, std::int64_t vocabulary);

  std::int64_t rows() const { return logits.shape()[0]; }
  std::int64_t vocabulary() const { return logits.shape()[1]; }
  void set(std::int64_t row, std::int64_t token, double logit);
  void set_step(std::int64_t row, std::uint64_t value);
  void set_seed(std::int64_t row, std::uint64_t value);
  /// The same rows in another order: row i of the result is row order[i].
  GumbelProblem reordered(const std::vector<std::int64_t>& order) const;
  GumbelMaxRow expected(std::int64_t row) const;

  Tensor logits, temperature, seed, step;
};

struct Sampled {
  std::vector<std::int64_t> token;
  std::vector<std::int64_t> ok;

  bool operator==(const Sampled&) const = default;
};

class GumbelRun {
 public:
  explicit GumbelRun(const Faults& faults = {});

  Runtime& runtime() { return *runtime_; }
  /// Arguments in device memory, until the next call; `problem` must live as long.
  GumbelMaxSampleArgs place(const GumbelProblem& problem, Poison poison = Poison::ones);
  /// Also expects that nothing but the outputs was written, and they wholly.
  Sampled sample(const GumbelProblem& problem, std::int64_t splits = kAutoSamplerSplits,
                 Poison poison = Poison::ones);

 private:
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Arena> arena_;  ///< goes before the runtime
  std::vector<ArenaBuffer> buffers_;
};

/// Rows that could be compared: those without a rival.
struct Checked {
  std::int64_t rows = 0;
  double closest = std::numeric_limits<double>::infinity();  ///< the least gap among them
};

/// Expects of each row the reference's token, or a rival of it, and ok where there is one.
Checked expect_sampled(const GumbelProblem& problem, const Sampled& got);

}  // namespace parity
