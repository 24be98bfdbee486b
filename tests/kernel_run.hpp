// Cases of any kernel whose inputs a test may change, and a runtime that launches them as
// their spec does.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/arena.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "tests/refusal.hpp"
#include "tests/tensor_values.hpp"

namespace parity {

struct KernelCase {
  explicit KernelCase(const std::string& id);

  Case c;
  TensorList inputs;
};

class KernelRun {
 public:
  explicit KernelRun(Faults faults = {});

  Runtime& runtime() { return *runtime_; }
  /// Buffers of the case in device memory, until the next call; `problem` must live as long.
  DeviceTensors place(const KernelCase& problem, Poison poison = Poison::ones);
  /// The outputs of a case. Also expects that nothing but them was written, they wholly, and the
  /// same bits whatever lies around the buffers.
  TensorList run(const KernelCase& problem);
  /// The same by another launch function than the spec's.
  TensorList run(const KernelCase& problem,
                 const std::function<void(Runtime&, const DeviceTensors&)>& launch);

 private:
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Arena> arena_;  ///< goes before the runtime
  std::vector<ArenaBuffer> buffers_;
};

/// Outputs against the reference, judged as in a run.
void expect_right(const KernelCase& problem, const TensorList& outputs);

/// Runs the case and expects the reference's answer.
void expect_right(KernelRun& run, const std::string& id);

/// The faults that the case's judge must tell from the answer.
std::set<std::string> wrong_answers_of(const std::string& id);

/// Bytes of `row` in a tensor whose first axis is rows.
std::vector<std::byte> row_bytes(const Tensor& tensor, std::int64_t row);

/// The element [row, ...] as a batch of one.
Tensor one_row(const Tensor& tensor, std::int64_t row);

}  // namespace parity
