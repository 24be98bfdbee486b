// Bounds of attention outputs, the same for every operation.
#include "harness/kernels/attention_bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLongestChain = 512;
/// Beyond these ratios to the answer's norm a row measures cancellation, not the kernel.
constexpr double kMaxAbsRatio = 512.0;
constexpr double kMaxRmsRatio = 8.0;

/// c of the bound, for head `head` of all rows' heads.
double error_factor(const AttentionAnswer& answer, std::int64_t head) {
  const std::int64_t row = head / answer.lse.shape()[1];
  const std::int64_t addends = answer.addends[static_cast<std::size_t>(row)];
  const double chain = static_cast<double>(std::min(addends, kLongestChain));
  return 16.0 + 4.0 * std::sqrt(chain) + 2.0 * answer.max_score.at(head);
}

double norm(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = begin; i < begin + count; ++i) sum += tensor.at(i) * tensor.at(i);
  return std::sqrt(sum);
}

}  // namespace

void expect_out(const AttentionAnswer& answer, PackOutput& out) {
  out.expected = answer.out;
  out.bound = Tensor(Dtype::f64, answer.out.shape());
  const std::int64_t d = answer.out.shape()[2];
  for (std::int64_t i = 0; i < answer.out.elements(); ++i) {
    const double mass = answer.abs_mass.at(i);
    if (std::isnan(answer.lse.at(i / d))) continue;  // a NaN is expected, and nothing else
    if (std::isfinite(mass)) {
      out.bound->set(i, error_factor(answer, i / d) * 0x1p-24 * mass);
    } else {
      out.expected->set(i, kNan);
      out.bound->set(i, kInfinity);  // any non-finite value will do
    }
  }
}

void expect_log_sum_exp(const AttentionAnswer& answer, PackOutput& lse) {
  lse.expected = answer.lse;
  lse.bound = Tensor(Dtype::f64, answer.lse.shape());
  for (std::int64_t i = 0; i < answer.lse.elements(); ++i) {
    const double want = answer.lse.at(i);
    if (std::isfinite(want)) lse.bound->set(i, 1e-5 + 0x1p-22 * std::abs(want));
  }
}

std::string cancellation(const AttentionAnswer& answer) {
  const std::int64_t d = answer.out.shape()[2];
  const std::int64_t heads = answer.lse.shape()[1];
  for (std::int64_t head = 0; head < answer.lse.elements(); ++head) {
    const double out = norm(answer.out, head * d, d);
    if (!std::isfinite(answer.lse.at(head)) || !std::isfinite(out)) continue;
    const double abs_mass = norm(answer.abs_mass, head * d, d);
    const double rms_mass = norm(answer.rms_mass, head * d, d);
    if (abs_mass > kMaxAbsRatio * out || rms_mass > kMaxRmsRatio * out)
      return fmt::format(
          "row {}, head {} cancels: its terms have norms {:.3g} (sum) and {:.3g} (root of "
          "squares), its result {:.3g}",
          head / heads, head % heads, abs_mass, rms_mass, out);
  }
  return {};
}

}  // namespace parity
