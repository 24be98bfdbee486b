// An independent hand: for every smoke case of the attention operations, the reference's answers
// agree with those of another route to what golden data may be off.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "harness/golden.hpp"
#include "harness/pack_builder.hpp"
#include "tests/second_route.hpp"

namespace parity {
namespace {

using second_route::Answer;
using second_route::attention;
using second_route::element;
using second_route::integer;
using second_route::Real;
using second_route::Token;
using second_route::WeightedSum;

/// Tokens of a row's own pages, from `first` on.
void append_tokens(const TensorList& inputs, std::int64_t row, std::int64_t page,
                   std::vector<Token>& tokens) {
  const Tensor& indptr = find(inputs, "page_indptr");
  const std::int64_t begin = integer(indptr, row), end = integer(indptr, row + 1);
  std::int64_t slot = begin == end ? 0 : integer(find(inputs, "first_page_offset"), row);
  for (std::int64_t i = begin; i < end; ++i, slot = 0) {
    const std::int64_t used = i + 1 == end ? integer(find(inputs, "last_page_len"), row) : page;
    for (; slot < used; ++slot) tokens.push_back({integer(find(inputs, "page_indices"), i), slot});
  }
}

Answer paged_decode_answer(const Case& c, const TensorList& inputs) {
  const std::int64_t page = c.constant("page");
  const auto window = static_cast<std::size_t>(c.constant("window"));
  return attention(c, inputs, page, c.constant("softcap"), [&](std::int64_t row, std::int64_t) {
    std::vector<Token> tokens;
    append_tokens(inputs, row, page, tokens);
    if (window > 0 && tokens.size() > window)
      tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(window));
    return tokens;
  });
}

Answer sparse_answer(const Case& c, const TensorList& inputs) {
  const std::int64_t heads = c.constant("hkv");
  const Tensor& indptr = find(inputs, "page_indptr");
  return attention(c, inputs, 1, c.constant("softcap"), [&](std::int64_t row, std::int64_t head) {
    std::vector<Token> tokens;
    for (std::int64_t i = integer(indptr, row * heads + head);
         i < integer(indptr, row * heads + head + 1); ++i)
      tokens.push_back({integer(find(inputs, "page_indices"), i), 0});
    return tokens;
  });
}

Answer cascade_answer(const Case& c, const TensorList& inputs) {
  const std::int64_t page = c.constant("page");
  const Tensor& groups = find(inputs, "group_indptr");
  const Tensor& prefixes = find(inputs, "prefix_indptr");
  return attention(c, inputs, page, c.constant("softcap"), [&](std::int64_t row, std::int64_t) {
    std::int64_t group = 0;
    while (integer(groups, group + 1) <= row) ++group;
    std::vector<Token> tokens;
    for (std::int64_t i = integer(prefixes, group); i < integer(prefixes, group + 1); ++i)
      for (std::int64_t slot = 0; slot < page; ++slot)
        tokens.push_back({integer(find(inputs, "prefix_indices"), i), slot});
    append_tokens(inputs, row, page, tokens);
    return tokens;
  });
}

Answer merge_answer(const Case&, const TensorList& inputs) {
  const Tensor& v = find(inputs, "v");
  const Tensor& indptr = find(inputs, "o_indptr");
  const std::int64_t rows = indptr.elements() - 1, heads = v.shape()[1], d = v.shape()[2];
  const Real ln2 = std::log(Real{2});
  Answer answer{Tensor(Dtype::f64, {rows, heads, d}), Tensor(Dtype::f64, {rows, heads})};
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t head = 0; head < heads; ++head) {
      WeightedSum sum(d);
      for (std::int64_t i = integer(indptr, row + 1); i-- > integer(indptr, row);) {
        const std::int64_t partial = i * heads + head;
        sum.add(ln2 * element(find(inputs, "lse"), partial),
                [&](std::int64_t j) { return element(v, partial * d + j); });
      }
      sum.store(answer.out, (row * heads + head) * d, answer.lse, row * heads + head, 1);
    }
  return answer;
}

const std::map<std::string, Answer (*)(const Case&, const TensorList&)>& routes() {
  static const std::map<std::string, Answer (*)(const Case&, const TensorList&)> table = {
      {"paged_decode", paged_decode_answer},
      {"paged_decode_sparse", sparse_answer},
      {"paged_decode_cascade", cascade_answer},
      {"split_kv_merge", merge_answer}};
  return table;
}

PackCase with_answer(PackCase reference, Answer answer) {
  reference.outputs.at(0).expected = std::move(answer.out);
  reference.outputs.at(1).expected = std::move(answer.lse);
  return reference;
}

class SecondRouteTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<Case> smoke_cases() {
    std::vector<Case> cases = suite_cases(registry(), Suite::smoke);
    std::erase_if(cases, [](const Case& c) { return c.spec->operation != GetParam(); });
    return cases;
  }
};

TEST_P(SecondRouteTest, AgreesWithTheReferenceToATrillionth) {
  const std::vector<Case> cases = smoke_cases();
  EXPECT_GE(cases.size(), 2u) << GetParam();
  for (const Case& c : cases) {
    const PackCase reference = compute_case(c);
    const Answer answer = routes().at(GetParam())(c, c.spec->inputs(c));
    EXPECT_EQ(verify_case(reference, with_answer(reference, answer)), std::vector<std::string>{})
        << c.id();
  }
}

/// The comparison can fail: of one row the answer of its first head, given to its second.
TEST_P(SecondRouteTest, SeesAnAnswerThatIsAnotherHeads) {
  const Case c = smoke_cases().at(0);
  const PackCase reference = compute_case(c);
  Answer answer = routes().at(GetParam())(c, c.spec->inputs(c));
  const std::int64_t d = answer.out.shape()[2];
  for (std::int64_t i = 0; i < d; ++i) answer.out.set(d + i, answer.out.at(i));
  answer.lse.set(1, answer.lse.at(0));
  EXPECT_EQ(verify_case(reference, with_answer(reference, answer)).size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(Operations, SecondRouteTest,
                         ::testing::Values("paged_decode", "paged_decode_sparse",
                                           "paged_decode_cascade", "split_kv_merge"),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace parity
