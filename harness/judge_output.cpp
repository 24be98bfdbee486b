// Tier 1 of the oracle: one output against the double reference. Special values first; then
// `if (!(error <= tolerance))`, so that NaN never passes.
#include "harness/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct RowTolerance {
  Dtype output;
  double tolerance;
};
// What is left after the unavoidable half spacing is taken out. Tightened, never loosened.
constexpr std::array kRowTolerances = {RowTolerance{Dtype::f32, 1e-5},
                                       RowTolerance{Dtype::f16, 5e-5},
                                       RowTolerance{Dtype::bf16, 5e-5}};
constexpr double kLseTolerance = 1e-5;

constexpr bool none_above(double limit) {
  return std::all_of(kRowTolerances.begin(), kRowTolerances.end(),
                     [limit](const RowTolerance& row) { return row.tolerance <= limit; });
}
static_assert(none_above(2e-3) && kLseTolerance <= 2e-3);

/// The worst of an output's rows (log_sum_exp: elements) and the first check that failed.
struct Comparison {
  double error = 0;  ///< in the units of Judgement::error
  double tolerance = 0;
  double of_bound = 0;
  std::int64_t units = 0;
  std::int64_t failed_units = 0;
  std::string first_failure;  ///< without the count of failed rows and the closing bracket
};

std::string element(const PackOutput& want, const Tensor& got, std::int64_t index) {
  return fmt::format("{}: got {}, want {:.9g}", place(want, index), got.at(index),
                     want.expected->at(index));
}

void require_comparable(const PackOutput& want, const Tensor& got) {
  if (got.type() != want.type)
    throw UsageError(fmt::format("output '{}' is {}, but {} was asked to be judged", want.name,
                                 want.type.to_string(), got.type().to_string()));
  const TensorType golden{Dtype::f64, want.type.shape};
  const auto check = [&](const std::optional<Tensor>& tensor, std::string_view what) {
    if (!tensor || tensor->type() != golden)
      throw UsageError(fmt::format(
          "output '{}' has {} {}, but judging needs {}: take the golden pack", want.name,
          tensor ? tensor->type().to_string() : "no", what, golden.to_string()));
  };
  check(want.expected, "expected");
  // A log-sum-exp has its own bound; a tensor is only needed to say what a NaN means.
  if (want.rule != OutputRule::log_sum_exp || want.bound) check(want.bound, "bound");
}

double bound_at(const PackOutput& want, std::int64_t index) {
  return want.bound ? want.bound->at(index) : 0.0;
}

/// Whether `got` is of the kind (finite, ±inf, NaN) that the reference says.
bool same_kind(double want, double got, double bound) {
  if (std::isnan(want)) return bound == kInfinity ? !std::isfinite(got) : std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::isfinite(got);
}

/// One row of `length` elements from `begin`.
class Row {
 public:
  Row(const PackOutput& want, const Tensor& got, std::int64_t begin, std::int64_t length)
      : want_(want), got_(got) {
    double error_squares = 0;
    double want_squares = 0;
    for (std::int64_t i = begin; i < begin + length; ++i) {
      const double w = want.expected->at(i);
      const double g = got.at(i);
      if (!same_kind(w, g, bound_at(want, i))) {
        if (wrong_kind_ < 0) wrong_kind_ = i;
        continue;
      }
      if (!std::isfinite(w)) continue;
      const double beyond = std::max(0.0, std::abs(g - w) - half_spacing(want.type.dtype, w));
      error_squares += beyond * beyond;
      want_squares += w * w;
      if (worst_ < 0 || beyond > worst_beyond_) {
        worst_ = i;
        worst_beyond_ = beyond;
      }
      const double bound = bound_at(want, i);
      if (outside_ < 0 && !(beyond <= bound)) outside_ = i;
      if (beyond > 0) of_bound_ = std::max(of_bound_, bound > 0 ? beyond / bound : kInfinity);
      if (nonzero_ < 0 && g != 0) nonzero_ = i;
    }
    // Nothing attended: no rounding excuses anything but zero.
    if (want_squares == 0) {
      error_ = nonzero_ < 0 ? 0 : kInfinity;
      exact_ = true;
    } else {
      error_ = std::sqrt(error_squares) / std::sqrt(want_squares);
    }
    if (wrong_kind_ >= 0) error_ = kInfinity;
  }

  double error() const { return error_; }
  /// The worst element's error beyond half a spacing, of its bound.
  double of_bound() const { return wrong_kind_ >= 0 ? kInfinity : of_bound_; }

  /// The first check that fails, or nothing.
  std::string failure(double tolerance) const {
    if (wrong_kind_ >= 0) return element(want_, got_, wrong_kind_) + " (another kind of value";
    if (exact_ && !(error_ <= tolerance))
      return element(want_, got_, nonzero_) + " (this row must be exactly zero";
    if (!(error_ <= tolerance))
      return element(want_, got_, worst_) +
             fmt::format(" (row error {:.3g} > {:g}", error_, tolerance);
    if (outside_ >= 0)
      return element(want_, got_, outside_) +
             fmt::format(" (more than half a spacing + {:.3g} off", bound_at(want_, outside_));
    return {};
  }

 private:
  const PackOutput& want_;
  const Tensor& got_;
  double error_ = 0;
  double worst_beyond_ = 0;
  double of_bound_ = 0;
  bool exact_ = false;  ///< every finite element must be zero
  std::int64_t wrong_kind_ = -1;
  std::int64_t worst_ = -1;
  std::int64_t outside_ = -1;
  std::int64_t nonzero_ = -1;
};

/// Adds a row or element; the larger error is kept, and NaN counts as infinite.
void add(Comparison& total, double error, std::string failure) {
  ++total.units;
  total.error = std::max(total.error, std::isnan(error) ? kInfinity : error);
  if (failure.empty()) return;
  if (total.failed_units++ == 0) total.first_failure = std::move(failure);
}

Comparison compare_rows(const PackOutput& want, const Tensor& got) {
  Comparison total;
  total.tolerance = row_tolerance(want.type.dtype);
  const std::int64_t elements = want.type.elements();
  const std::int64_t length = want.type.shape.empty() ? 1 : want.type.shape.back();
  for (std::int64_t begin = 0; begin < elements; begin += length) {
    const Row row(want, got, begin, length);
    add(total, row.error(), row.failure(total.tolerance));
    total.of_bound = std::max(total.of_bound, row.of_bound());
  }
  return total;
}

Comparison compare_log_sum_exp(const PackOutput& want, const Tensor& got) {
  Comparison total;
  total.tolerance = kLseTolerance;
  for (std::int64_t i = 0; i < want.type.elements(); ++i) {
    const double w = want.expected->at(i);
    const double g = got.at(i);
    if (!same_kind(w, g, bound_at(want, i))) {
      add(total, kInfinity, element(want, got, i) + " (another kind of value");
      continue;
    }
    if (!std::isfinite(w)) {
      add(total, 0, {});
      continue;
    }
    const double difference = std::abs(g - w);
    const double allowed = kLseTolerance + 0x1p-22 * std::abs(w);
    std::string failure;
    if (!(difference <= allowed))
      failure = element(want, got, i) +
                fmt::format(" (|difference| {:.3g} > {:.3g}", difference, allowed);
    add(total, difference / allowed * kLseTolerance, std::move(failure));
  }
  return total;
}

/// The error is the share of elements that are wrong; no tolerance excuses one.
Comparison compare_exactly(const PackOutput& want, const Tensor& got) {
  Comparison total;
  for (std::int64_t i = 0; i < want.type.elements(); ++i) {
    const double other = want.bound->at(i);
    if (std::isnan(other)) continue;
    const double g = got.at(i);
    std::string failure;
    if (!(g == want.expected->at(i) || g == other))
      failure = element(want, got, i) + " (must be equal";
    add(total, 0, std::move(failure));
  }
  if (total.units > 0)
    total.error = static_cast<double>(total.failed_units) / static_cast<double>(total.units);
  return total;
}

Comparison compare(const PackOutput& want, const Tensor& got) {
  require_comparable(want, got);
  switch (want.rule) {
    case OutputRule::rows:
      return compare_rows(want, got);
    case OutputRule::log_sum_exp:
      return compare_log_sum_exp(want, got);
    case OutputRule::exact:
      break;
  }
  return compare_exactly(want, got);
}

}  // namespace

std::string place(const PackOutput& output, std::int64_t index) {
  std::string position;
  const Shape& shape = output.type.shape;
  for (std::int64_t axis = std::ssize(shape) - 1, rest = index; axis >= 0; --axis) {
    const std::int64_t extent = shape[static_cast<std::size_t>(axis)];
    position = fmt::format("{}{}{}", rest % extent, position.empty() ? "" : ",", position);
    rest /= extent;
  }
  return fmt::format("{}[{}]", output.name, position);
}

double row_tolerance(Dtype output) {
  for (const RowTolerance& row : kRowTolerances)
    if (row.output == output) return row.tolerance;
  throw UsageError(
      fmt::format("no row tolerance for outputs in {}; known: f32, f16, bf16", name(output)));
}

double tolerance_of(const PackOutput& output) {
  switch (output.rule) {
    case OutputRule::rows:
      return row_tolerance(output.type.dtype);
    case OutputRule::log_sum_exp:
      return kLseTolerance;
    case OutputRule::exact:
      break;
  }
  return 0;
}

Judgement judge_output(const PackOutput& want, const Tensor& got) {
  const Comparison total = compare(want, got);
  Judgement judgement;
  judgement.error = total.error;
  judgement.tolerance = total.tolerance;
  judgement.outputs = {{want.name, total.error, total.tolerance, total.of_bound}};
  if (total.units == 0) {
    judgement.verdict = Verdict::untrusted;
    judgement.detail =
        fmt::format("{} has no element that is compared: nothing was checked", want.name);
  } else if (total.failed_units > 0) {
    judgement.verdict = Verdict::failed;
    judgement.fingerprint = Fingerprint::mismatch;
    judgement.detail = total.first_failure;
    if (total.failed_units > 1)
      judgement.detail +=
          fmt::format("; {} of {} {}", total.failed_units, total.units,
                      want.rule == OutputRule::rows ? "rows are wrong" : "elements are wrong");
    judgement.detail += ")";
  } else {
    judgement.verdict = Verdict::passed;
  }
  return judgement;
}

double violation(const PackOutput& want, const Tensor& got) {
  const Comparison total = compare(want, got);
  if (want.rule == OutputRule::exact) return total.failed_units > 0 ? kInfinity : 0;
  return total.error / total.tolerance;
}

}  // namespace parity
