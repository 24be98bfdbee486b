// For each kv head, the dense reference of a problem that has that head alone, whose page table is
// the lists of that head.
#include "reference/paged_decode_sparse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

template <class... Parts>
[[noreturn]] void refuse(fmt::format_string<Parts...> format, Parts&&... parts) {
  throw UsageError("paged decode sparse reference: " +
                   fmt::format(format, std::forward<Parts>(parts)...));
}

std::int64_t integer(const Tensor& tensor, std::int64_t index) {
  return static_cast<std::int64_t>(tensor.at(index));
}

/// Throws UsageError unless the lists can be read and name no slot twice.
void check_lists(const PagedDecodeSparseProblem& problem, std::int64_t batch) {
  const TensorType indptr{Dtype::i32, {batch * problem.kv_heads + 1}};
  if (problem.page_indptr.type() != indptr)
    refuse("page_indptr is {}, but must be {}", problem.page_indptr.type().to_string(),
           indptr.to_string());
  const Tensor& indices = problem.page_indices;
  if (indices.dtype() != Dtype::i32 || indices.shape().size() != 1)
    refuse("page_indices is {}, but must be i32[nnz]", indices.type().to_string());
  for (std::int64_t list = 0; list + 1 < problem.page_indptr.elements(); ++list) {
    const std::int64_t begin = integer(problem.page_indptr, list);
    const std::int64_t end = integer(problem.page_indptr, list + 1);
    if (begin < 0 || end < begin || end > indices.elements())
      refuse("page_indptr of list {} is {}..{} of {} indices", list, begin, end,
             indices.elements());
    std::set<std::int64_t> seen;
    for (std::int64_t i = begin; i < end; ++i)
      if (!seen.insert(integer(indices, i)).second)
        refuse("page_indices of list {} names slot {} twice", list, integer(indices, i));
  }
}

/// Elements [i, of, ...] of every row from a tensor [rows, groups of `of`, ...], or back.
struct Slice {
  std::int64_t first, count, rows, stride;  ///< in elements

  void take(const Tensor& all, Tensor& one) const {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < count; ++i)
        one.set(row * count + i, all.at(row * stride + first + i));
  }
  void put(const Tensor& one, Tensor& all) const {
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < count; ++i)
        all.set(row * stride + first + i, one.at(row * count + i));
  }
};

PagedPool of_head(PagedPool pool, std::int64_t kv_head) {
  pool.offset += kv_head * pool.stride_head;
  return pool;
}

/// The lists of one kv head as a page table.
struct HeadTable {
  Tensor indptr, indices, last_page_len, first_page_offset;

  HeadTable(const PagedDecodeSparseProblem& problem, std::int64_t batch, std::int64_t kv_head)
      : indptr(Dtype::i32, {batch + 1}),
        indices(Dtype::i32, {problem.page_indices.elements()}),
        last_page_len(Dtype::i32, {batch}),
        first_page_offset(Dtype::i32, {batch}) {
    std::int64_t used = 0;
    for (std::int64_t row = 0; row < batch; ++row) {
      const std::int64_t list = row * problem.kv_heads + kv_head;
      const std::int64_t begin = integer(problem.page_indptr, list);
      const std::int64_t end = integer(problem.page_indptr, list + 1);
      for (std::int64_t i = begin; i < end; ++i) indices.set(used++, problem.page_indices.at(i));
      indptr.set(row + 1, static_cast<double>(used));
      last_page_len.set(row, end > begin ? 1 : 0);
    }
  }
};

}  // namespace

PagedDecodeReference paged_decode_sparse(const PagedDecodeSparseProblem& problem) {
  const Shape& q = problem.q.shape();
  if (q.size() != 3 || problem.kv_heads < 1 || q[1] % problem.kv_heads != 0)
    refuse("q is {}, but must be [batch, heads, head_dim] with a multiple of kv_heads = {} heads",
           problem.q.type().to_string(), problem.kv_heads);
  const std::int64_t batch = q[0], group = q[1] / problem.kv_heads, d = q[2];
  check_lists(problem, batch);
  PagedDecodeReference result{Tensor(Dtype::f64, q),
                              Tensor(Dtype::f64, {batch, q[1]}),
                              Tensor(Dtype::f64, q),
                              Tensor(Dtype::f64, q),
                              Tensor(Dtype::f64, {batch, q[1]}),
                              std::vector<std::int64_t>(static_cast<std::size_t>(batch))};
  for (std::int64_t kv_head = 0; kv_head < problem.kv_heads; ++kv_head) {
    const Slice vectors{kv_head * group * d, group * d, batch, q[1] * d};
    const Slice scalars{kv_head * group, group, batch, q[1]};
    const HeadTable table(problem, batch, kv_head);
    Tensor head_q(problem.q.dtype(), {batch, group, d});
    vectors.take(problem.q, head_q);
    const PagedDecodeReference head = paged_decode({.q = head_q,
                                                    .k = of_head(problem.k, kv_head),
                                                    .v = of_head(problem.v, kv_head),
                                                    .page_indptr = table.indptr,
                                                    .page_indices = table.indices,
                                                    .last_page_len = table.last_page_len,
                                                    .first_page_offset = table.first_page_offset,
                                                    .page_size = 1,
                                                    .kv_heads = 1,
                                                    .scale = problem.scale,
                                                    .k_scale = problem.k_scale,
                                                    .v_scale = problem.v_scale,
                                                    .softcap = problem.softcap,
                                                    .drop_last = problem.drop_last});
    vectors.put(head.out, result.out);
    vectors.put(head.abs_mass, result.abs_mass);
    vectors.put(head.rms_mass, result.rms_mass);
    scalars.put(head.lse, result.lse);
    scalars.put(head.max_score, result.max_score);
    for (std::size_t row = 0; row < result.tokens.size(); ++row)
      result.tokens[row] = std::max(result.tokens[row], head.tokens[row]);
  }
  return result;
}

}  // namespace parity
