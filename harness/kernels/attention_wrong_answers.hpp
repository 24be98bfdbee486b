// What attention kernels with one fault would answer: the judge must reject each.
#pragma once

#include <string>
#include <utility>

#include "harness/kernel_spec.hpp"
#include "reference/paged_decode.hpp"

namespace parity {

/// Each output by itself, so that neither does the rejecting for the other.
class WrongAnswers {
 public:
  explicit WrongAnswers(ReferenceResult& result) : result_(result) {}

  void add_out(const std::string& fault, Tensor out) { add(fault, "out", std::move(out)); }
  void add_lse(const std::string& fault, Tensor lse) {
    add(fault + " in lse", "lse", std::move(lse));
  }
  void add(const std::string& fault, PagedDecodeReference answer) {
    add_out(fault, std::move(answer.out));
    add_lse(fault, std::move(answer.lse));
  }

 private:
  void add(const std::string& fault, const std::string& output, Tensor tensor) {
    TensorList answer;
    answer.push_back({output, std::move(tensor)});
    result_.wrong_answers.emplace_back(fault, std::move(answer));
  }

  ReferenceResult& result_;
};

/// Softcap and scales, where there are any. `solve` gives a problem's PagedDecodeReference; `out`
/// is that of `problem`.
template <class Problem, class Solve>
void add_ignored_factors(const Problem& problem, const Tensor& out, const Solve& solve,
                         WrongAnswers& answers) {
  if (problem.softcap != 0) {
    Problem uncapped = problem;
    uncapped.softcap = 0;
    answers.add("softcap_ignored", solve(uncapped));
  }
  if (problem.k_scale != 1) {
    Problem unscaled = problem;
    unscaled.k_scale = 1;
    answers.add("k_scale_ignored", solve(unscaled));
  }
  if (problem.v_scale == 1) return;
  Tensor unscaled(out.type());
  for (std::int64_t i = 0; i < out.elements(); ++i) unscaled.set(i, out.at(i) / problem.v_scale);
  answers.add_out("v_scale_ignored", std::move(unscaled));
}

}  // namespace parity
