// Split-KV merge by definition: weigh each partial by what it attended to, and sum.
#include "reference/split_kv_merge.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError("split-KV merge reference: " +
                   fmt::format(format, std::forward<Parts>(parts)...));
}

struct Sizes {
  std::int64_t rows, partials, heads, head_dim;
};

Sizes check(const SplitKvMergeProblem& problem) {
  const TensorType& v = problem.v.type();
  const TensorType& lse = problem.lse.type();
  const TensorType& indptr = problem.o_indptr.type();
  if (!is_floating(v.dtype) || v.shape.size() != 3)
    refuse("v is {}, but must be floating, of rank 3", v.to_string());
  if (!is_floating(lse.dtype) || lse.shape != Shape{v.shape[0], v.shape[1]})
    refuse("lse is {}, but must be floating [{},{}]", lse.to_string(), v.shape[0], v.shape[1]);
  if (indptr.dtype != Dtype::i32 || indptr.shape.size() != 1 || indptr.shape[0] < 1)
    refuse("o_indptr is {}, but must be i32[rows + 1]", indptr.to_string());
  return {indptr.shape[0] - 1, v.shape[0], v.shape[1], v.shape[2]};
}

/// Partials begin to end - 1.
struct Range {
  std::int64_t begin, end;
};

Range partials_of(const SplitKvMergeProblem& problem, const Sizes& sizes, std::int64_t row) {
  const auto begin = static_cast<std::int64_t>(problem.o_indptr.at(row));
  const auto end = static_cast<std::int64_t>(problem.o_indptr.at(row + 1));
  if (begin < 0 || end < begin || end > sizes.partials)
    refuse("o_indptr of row {} is {}..{} of {} partials", row, begin, end, sizes.partials);
  return {begin, end};
}

Eigen::RowVectorXd load(const Tensor& tensor, std::int64_t element, std::int64_t count) {
  Eigen::RowVectorXd values(count);
  for (Eigen::Index d = 0; d < values.size(); ++d) values[d] = tensor.at(element + d);
  return values;
}

void store(Tensor& tensor, std::int64_t element, const Eigen::RowVectorXd& values) {
  for (Eigen::Index d = 0; d < values.size(); ++d) tensor.set(element + d, values[d]);
}

void merge(const SplitKvMergeProblem& problem, const Sizes& sizes, Range range, std::int64_t row,
           std::int64_t head, SplitKvMergeReference& result) {
  const std::int64_t place = row * sizes.heads + head;
  double max = -kInfinity;
  double max_size = 0.0;
  bool undefined = false;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const double lse = problem.lse.at(i * sizes.heads + head);
    undefined = undefined || std::isnan(lse) || lse == kInfinity;
    max = std::max(max, lse);
    if (std::isfinite(lse)) max_size = std::max(max_size, std::abs(lse));
  }
  result.max_lse.set(place, max_size);
  if (undefined) {
    result.lse.set(place, kNan);
    store(result.out, place * sizes.head_dim, Eigen::RowVectorXd::Constant(sizes.head_dim, kNan));
    return;
  }
  if (max == -kInfinity) {
    result.lse.set(place, -kInfinity);
    return;
  }
  double sum = 0.0;
  Eigen::RowVectorXd out = Eigen::RowVectorXd::Zero(sizes.head_dim);
  Eigen::RowVectorXd mass = out;
  Eigen::RowVectorXd square = out;
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const double lse = problem.lse.at(i * sizes.heads + head);
    if (lse == -kInfinity) continue;  // selected, not multiplied by 0
    const double weight = std::exp2(lse - max);
    const Eigen::RowVectorXd term =
        weight * load(problem.v, (i * sizes.heads + head) * sizes.head_dim, sizes.head_dim);
    sum += weight;
    out += term;
    mass += term.cwiseAbs();
    square += term.cwiseAbs2();
  }
  result.lse.set(place, max + std::log2(sum));
  store(result.out, place * sizes.head_dim, out / sum);
  store(result.abs_mass, place * sizes.head_dim, mass / sum);
  store(result.rms_mass, place * sizes.head_dim, square.cwiseSqrt() / sum);
}

}  // namespace

SplitKvMergeReference split_kv_merge(const SplitKvMergeProblem& problem) {
  const Sizes sizes = check(problem);
  const Shape vectors = {sizes.rows, sizes.heads, sizes.head_dim};
  const Shape scalars = {sizes.rows, sizes.heads};
  SplitKvMergeReference result{Tensor(Dtype::f64, vectors), Tensor(Dtype::f64, scalars),
                               Tensor(Dtype::f64, vectors), Tensor(Dtype::f64, vectors),
                               Tensor(Dtype::f64, scalars), {}};
  for (std::int64_t row = 0; row < sizes.rows; ++row) {
    const Range range = partials_of(problem, sizes, row);
    result.partials.push_back(range.end - range.begin);
    for (std::int64_t head = 0; head < sizes.heads; ++head)
      merge(problem, sizes, range, row, head, result);
  }
  return result;
}

}  // namespace parity
