// Binds the paged decode reference to cases.
#include "harness/kernels/paged_decode_expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "harness/kernels/paged_decode_inputs.hpp"
#include "reference/paged_decode.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kLongestChain = 512;
/// Beyond these ratios to the answer's norm a row measures cancellation, not the kernel.
constexpr double kMaxAbsRatio = 512.0;
constexpr double kMaxRmsRatio = 8.0;

PagedDecodeReference run_reference(const Case& c, const TensorList& inputs,
                                   std::int64_t drop_last) {
  return paged_decode({.q = find(inputs, "q"),
                       .k_pages = find(inputs, "k_pages"),
                       .v_pages = find(inputs, "v_pages"),
                       .page_indptr = find(inputs, "page_indptr"),
                       .page_indices = find(inputs, "page_indices"),
                       .last_page_len = find(inputs, "last_page_len"),
                       .first_page_offset = find(inputs, "first_page_offset"),
                       .scale = paged_decode_scale(c),
                       .drop_last = drop_last});
}

/// c of the bound, for head `head` of all rows' heads.
double error_factor(const PagedDecodeReference& reference, std::int64_t head) {
  const std::int64_t heads = reference.lse.shape()[1];
  const std::int64_t tokens = reference.tokens[static_cast<std::size_t>(head / heads)];
  const double chain = static_cast<double>(std::min(tokens, kLongestChain));
  return 16.0 + 4.0 * std::sqrt(chain) + 2.0 * reference.max_score.at(head);
}

void set_out(const PagedDecodeReference& reference, PackOutput& out) {
  out.expected = reference.out;
  out.bound = Tensor(Dtype::f64, reference.out.shape());
  const std::int64_t d = reference.out.shape()[2];
  for (std::int64_t i = 0; i < reference.out.elements(); ++i) {
    const double mass = reference.abs_mass.at(i);
    if (std::isnan(reference.lse.at(i / d))) continue;  // a NaN is expected, and nothing else
    if (std::isfinite(mass)) {
      out.bound->set(i, error_factor(reference, i / d) * 0x1p-24 * mass);
    } else {
      out.expected->set(i, kNan);
      out.bound->set(i, kInfinity);  // any non-finite value will do
    }
  }
}

void set_lse(const PagedDecodeReference& reference, PackOutput& lse) {
  lse.expected = reference.lse;
  lse.bound = Tensor(Dtype::f64, reference.lse.shape());
  for (std::int64_t i = 0; i < reference.lse.elements(); ++i) {
    const double want = reference.lse.at(i);
    if (std::isfinite(want)) lse.bound->set(i, 1e-5 + 0x1p-22 * std::abs(want));
  }
}

double norm(const Tensor& tensor, std::int64_t begin, std::int64_t count) {
  double sum = 0.0;
  for (std::int64_t i = begin; i < begin + count; ++i) sum += tensor.at(i) * tensor.at(i);
  return std::sqrt(sum);
}

std::string cancellation(const PagedDecodeReference& reference) {
  const std::int64_t d = reference.out.shape()[2];
  for (std::int64_t head = 0; head < reference.lse.elements(); ++head) {
    const double out = norm(reference.out, head * d, d);
    if (!std::isfinite(reference.lse.at(head)) || !std::isfinite(out)) continue;
    const double abs_mass = norm(reference.abs_mass, head * d, d);
    const double rms_mass = norm(reference.rms_mass, head * d, d);
    if (abs_mass > kMaxAbsRatio * out || rms_mass > kMaxRmsRatio * out)
      return fmt::format(
          "row {}, head {} cancels: its terms have norms {:.3g} (sum) and {:.3g} (root of "
          "squares), "
          "its result {:.3g}",
          head / reference.lse.shape()[1], head % reference.lse.shape()[1], abs_mass, rms_mass,
          out);
  }
  return {};
}

}  // namespace

std::vector<PackOutput> paged_decode_outputs(const Case& c) {
  const auto batch =
      static_cast<std::int64_t>(paged_decode_rows(c.recipe, c.constant("page")).size());
  PackOutput out{"out",
                 {c.dtype("q"), {batch, c.constant("hq"), c.constant("d")}},
                 OutputRule::rows,
                 std::nullopt,
                 std::nullopt};
  PackOutput lse{"lse",
                 {Dtype::f32, {batch, c.constant("hq")}},
                 OutputRule::log_sum_exp,
                 std::nullopt,
                 std::nullopt};
  return {std::move(out), std::move(lse)};
}

ReferenceResult paged_decode_expectation(const Case& c, const TensorList& inputs) {
  ReferenceResult result;
  result.outputs = paged_decode_outputs(c);
  const PagedDecodeReference reference = run_reference(c, inputs, 0);
  set_out(reference, result.outputs[0]);
  set_lse(reference, result.outputs[1]);
  // Two answers, so that neither output does the rejecting for the other.
  PagedDecodeReference dropped = run_reference(c, inputs, 1);
  TensorList out;
  out.push_back({"out", std::move(dropped.out)});
  TensorList lse;
  lse.push_back({"lse", std::move(dropped.lse)});
  result.wrong_answers.emplace_back("last_token_dropped", std::move(out));
  result.wrong_answers.emplace_back("last_token_dropped in lse", std::move(lse));
  result.refused = cancellation(reference);
  return result;
}

}  // namespace parity
