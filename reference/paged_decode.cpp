// Paged decode attention by definition: gather the row's tokens, score, exponentiate, sum.
#include "reference/paged_decode.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "datasets/errors.hpp"

namespace parity {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError("paged decode reference: " + fmt::format(format, std::forward<Parts>(parts)...));
}

void require_type(std::string_view name, const Tensor& tensor, const TensorType& want) {
  if (tensor.type() != want)
    refuse("{} is {}, but must be {}", name, tensor.type().to_string(), want.to_string());
}

void require_floating(std::string_view name, const Tensor& tensor, std::size_t rank) {
  if (!is_floating(tensor.dtype()) || tensor.shape().size() != rank)
    refuse("{} is {}, but must be floating, of rank {}", name, tensor.type().to_string(), rank);
}

struct Sizes {
  std::int64_t batch, heads, head_dim, kv_heads, page_size, pages;
};

void require_pool(std::string_view name, const PagedPool& pool, const Sizes& sizes) {
  if (!is_floating(pool.tensor.dtype()))
    refuse("{} is {}, but must be floating", name, pool.tensor.type().to_string());
  if (pool.pages < 0 || pool.offset < 0 || pool.stride_page < 0 || pool.stride_slot < 0 ||
      pool.stride_head < 0)
    refuse("{} has {} pages, strides {}, {}, {} and offset {}, but none may be negative", name,
           pool.pages, pool.stride_page, pool.stride_slot, pool.stride_head, pool.offset);
  if (pool.pages == 0) return;
  const std::int64_t end =
      pool.at(pool.pages - 1, sizes.page_size - 1, sizes.kv_heads - 1) + sizes.head_dim;
  if (end > pool.tensor.elements())
    refuse("{} is {}, but its last slot ends at element {}", name, pool.tensor.type().to_string(),
           end);
}

void require_factors(const PagedDecodeProblem& problem) {
  if (problem.window < 0) refuse("window is {}, but must not be negative", problem.window);
  if (!(problem.softcap >= 0)) refuse("softcap is {}, but must not be negative", problem.softcap);
  if (problem.drop_last < 0) refuse("drop_last is {}, but must not be negative", problem.drop_last);
}

Sizes check(const PagedDecodeProblem& problem) {
  require_floating("q", problem.q, 3);
  const Shape& q = problem.q.shape();
  if (problem.page_size < 1) refuse("page_size is {}, but must be at least 1", problem.page_size);
  if (problem.kv_heads < 1 || q[1] % problem.kv_heads != 0)
    refuse("q has {} heads, but must have a multiple of kv_heads = {}", q[1], problem.kv_heads);
  const Sizes sizes{q[0],
                    q[1],
                    q[2],
                    problem.kv_heads,
                    problem.page_size,
                    std::min(problem.k.pages, problem.v.pages)};
  require_pool("k", problem.k, sizes);
  require_pool("v", problem.v, sizes);
  require_type("page_indptr", problem.page_indptr, {Dtype::i32, {q[0] + 1}});
  require_type("page_indices", problem.page_indices,
               {Dtype::i32, {problem.page_indices.elements()}});
  require_type("last_page_len", problem.last_page_len, {Dtype::i32, {q[0]}});
  require_type("first_page_offset", problem.first_page_offset, {Dtype::i32, {q[0]}});
  require_factors(problem);
  return sizes;
}

std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(tensor.at(index));
}

/// Where a token lies in the pools.
struct Slot {
  std::int64_t page, slot;
};

/// The attended tokens of a row.
std::vector<Slot> attended_slots(const PagedDecodeProblem& problem, const Sizes& sizes,
                                 std::int64_t row) {
  const std::int64_t begin = integer(problem.page_indptr, row);
  const std::int64_t end = integer(problem.page_indptr, row + 1);
  const std::int64_t last = integer(problem.last_page_len, row);
  const std::int64_t first = integer(problem.first_page_offset, row);
  if (begin < 0 || end < begin || end > problem.page_indices.elements())
    refuse("page_indptr of row {} is {}..{} of {} indices", row, begin, end,
           problem.page_indices.elements());
  const std::int64_t least = begin == end ? 0 : 1;
  if (last < least || last > least * sizes.page_size)
    refuse("last_page_len of row {} is {}", row, last);
  if (first < 0 || (first > 0 && first >= least * sizes.page_size))
    refuse("first_page_offset of row {} is {}", row, first);
  const std::int64_t slots = begin == end ? 0 : (end - begin - 1) * sizes.page_size + last;
  if (slots < first) refuse("first_page_offset of row {} is {}, of {} slots", row, first, slots);
  const std::int64_t begun = problem.window == 0 ? first : std::max(first, slots - problem.window);
  std::vector<Slot> result;
  for (std::int64_t position = begun; position < slots - problem.drop_last; ++position) {
    const std::int64_t page = integer(problem.page_indices, begin + position / sizes.page_size);
    if (page < 0 || page >= sizes.pages)
      refuse("page_indices of row {} holds page {} of {}", row, page, sizes.pages);
    result.push_back({page, position % sizes.page_size});
  }
  return result;
}

/// What Tensor::at gives of `count` elements from `begin` on, without asking for their size each
/// time: contexts of real models have hundreds of millions.
template <class Bits>
void upcast(const Tensor& tensor, std::int64_t begin, std::int64_t count, double* out) {
  const std::byte* from = tensor.bytes().data() + static_cast<std::size_t>(begin) * sizeof(Bits);
  for (std::int64_t i = 0; i < count; ++i, from += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, from, sizeof bits);
    out[i] = decode(tensor.dtype(), bits);
  }
}

/// [tokens, D] of one kv head.
Matrix gather(const PagedPool& pool, const std::vector<Slot>& slots, std::int64_t kv_head,
              const Sizes& sizes) {
  Matrix result(static_cast<Eigen::Index>(slots.size()), sizes.head_dim);
  const std::size_t size = size_of(pool.tensor.dtype());
  const auto read = size == 1   ? upcast<std::uint8_t>
                    : size == 2 ? upcast<std::uint16_t>
                    : size == 4 ? upcast<std::uint32_t>
                                : upcast<std::uint64_t>;
  for (Eigen::Index t = 0; t < result.rows(); ++t) {
    const auto [page, slot] = slots[static_cast<std::size_t>(t)];
    read(pool.tensor, pool.at(page, slot, kv_head), sizes.head_dim, result.row(t).data());
  }
  return result;
}

/// s of each token, from q·k of each.
Eigen::VectorXd scores_of(const PagedDecodeProblem& problem, const Eigen::VectorXd& products) {
  const double factor = problem.k_scale * problem.scale;
  if (problem.softcap == 0.0) return std::numbers::log2e * factor * products;
  return products.unaryExpr([&](double product) {
    return std::numbers::log2e * problem.softcap * std::tanh(factor * product / problem.softcap);
  });
}

/// What one (row, head) writes: D elements from `element` on, and one of `index`.
struct Place {
  std::int64_t index, element;
};

void store(Tensor& tensor, std::int64_t element, const Eigen::RowVectorXd& values) {
  for (Eigen::Index d = 0; d < values.size(); ++d) tensor.set(element + d, values[d]);
}

void attend(const Eigen::VectorXd& scores, const Matrix& values, const Place& place,
            PagedDecodeReference& result) {
  double max = -kInfinity;
  double max_size = 0.0;
  bool undefined = false;
  for (const double score : scores) {
    undefined = undefined || std::isnan(score) || score == kInfinity;
    max = std::max(max, score);
    if (std::isfinite(score)) max_size = std::max(max_size, std::abs(score));
  }
  result.max_score.set(place.index, max_size);
  Eigen::RowVectorXd out = Eigen::RowVectorXd::Zero(values.cols());
  Eigen::RowVectorXd mass = out;
  Eigen::RowVectorXd square = out;
  if (undefined) {
    result.lse.set(place.index, kNan);
    store(result.out, place.element, Eigen::RowVectorXd::Constant(values.cols(), kNan));
    return;
  }
  if (max == -kInfinity) {
    result.lse.set(place.index, -kInfinity);
    return;
  }
  double sum = 0.0;
  for (const double score : scores) sum += std::exp2(score - max);
  for (Eigen::Index t = 0; t < scores.size(); ++t) {
    if (scores[t] == -kInfinity) continue;  // selected, not multiplied by 0
    const double weight = std::exp2(scores[t] - max) / sum;
    out += weight * values.row(t);
    mass += weight * values.row(t).cwiseAbs();
    square += (weight * values.row(t)).cwiseAbs2();
  }
  result.lse.set(place.index, max + std::log2(sum));
  store(result.out, place.element, out);
  store(result.abs_mass, place.element, mass);
  store(result.rms_mass, place.element, square.cwiseSqrt());
}

}  // namespace

PagedPool PagedPool::contiguous(const Tensor& pages) {
  const Shape& shape = pages.shape();
  if (shape.size() != 4)
    refuse("a pool is {}, but must be [num_pages, slots, kv_heads, head_dim]",
           pages.type().to_string());
  return {pages, shape[0], shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]};
}

PagedDecodeReference paged_decode(const PagedDecodeProblem& problem) {
  const Sizes sizes = check(problem);
  const Shape vectors = problem.q.shape();
  const Shape scalars = {sizes.batch, sizes.heads};
  PagedDecodeReference result{Tensor(Dtype::f64, vectors), Tensor(Dtype::f64, scalars),
                              Tensor(Dtype::f64, vectors), Tensor(Dtype::f64, vectors),
                              Tensor(Dtype::f64, scalars), {}};
  const std::int64_t group = sizes.heads / sizes.kv_heads;
  for (std::int64_t row = 0; row < sizes.batch; ++row) {
    const std::vector<Slot> slots = attended_slots(problem, sizes, row);
    result.tokens.push_back(static_cast<std::int64_t>(slots.size()));
    for (std::int64_t kv_head = 0; kv_head < sizes.kv_heads; ++kv_head) {
      const Matrix keys = gather(problem.k, slots, kv_head, sizes);
      const Matrix values = problem.v_scale * gather(problem.v, slots, kv_head, sizes);
      for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
        const Place place{row * sizes.heads + head, (row * sizes.heads + head) * sizes.head_dim};
        Eigen::VectorXd q(sizes.head_dim);
        for (Eigen::Index d = 0; d < q.size(); ++d) q[d] = problem.q.at(place.element + d);
        attend(scores_of(problem, keys * q), values, place, result);
      }
    }
  }
  return result;
}

}  // namespace parity
