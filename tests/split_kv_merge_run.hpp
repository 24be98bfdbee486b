// Merge problems whose inputs a test may change, and a host runtime that runs them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/arena.hpp"
#include "device/runtime.hpp"
#include "device/split_kv_merge.hpp"
#include "harness/case.hpp"

namespace parity {

struct Merged {
  Tensor out;
  Tensor lse;
};

struct MergeProblem {
  /// Inputs of the case `id`, which is without the kernel's name.
  explicit MergeProblem(const std::string& id);
  /// One row of partials with these lse, one head, D = 8, v of normals; f32 throughout.
  static MergeProblem one_row(const std::vector<double>& lse);
  /// The merged rows as partials, f32 throughout.
  static MergeProblem from(const Merged& merged);

  void set_rows(const std::vector<std::int64_t>& indptr);
  /// What the reference says of the inputs as they are now.
  ReferenceResult expectation() const;

  Tensor v, lse, o_indptr;
  Dtype out;

 private:
  MergeProblem(Tensor v, Tensor lse);
};

class MergeRun {
 public:
  MergeRun();

  Runtime& runtime() { return *runtime_; }
  /// Arguments in device memory, until the next call; `problem` must live as long.
  SplitKvMergeArgs place(const MergeProblem& problem, Poison poison = Poison::ones);
  /// Also expects that nothing but the outputs was written, these wholly, and the same bits
  /// whatever lies around the buffers.
  Merged merge(const MergeProblem& problem);
  /// With outputs that hold NaN before.
  Merged merge_into_nan(const MergeProblem& problem);

 private:
  Merged merge_amid(Poison poison, const MergeProblem& problem);

  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Arena> arena_;  ///< goes before the runtime
  std::vector<ArenaBuffer> buffers_;
};

}  // namespace parity
