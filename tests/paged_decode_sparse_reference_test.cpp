// The reference of paged_decode_sparse against values worked out by hand.
#include "reference/paged_decode_sparse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/refusal.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two rows, two kv heads of two query heads each, D = 1, four slots; q is 0, so that scores are
/// equal; v of slot s is 10·s + 1 in kv head 0 and 100·s in kv head 1.
struct TwoRows {
  Tensor q{Dtype::f64, {2, 4, 1}};
  Tensor k{Dtype::f64, {4, 1, 2, 1}};
  Tensor v{Dtype::f64, {4, 1, 2, 1}};
  Tensor indptr = integer_tensor({0, 2, 3, 3, 6});
  Tensor indices = integer_tensor({3, 1, 2, 0, 1, 3});

  TwoRows() {
    for (int slot = 0; slot < 4; ++slot) {
      v.set(slot * 2, 10 * slot + 1);
      v.set(slot * 2 + 1, 100 * slot);
    }
  }
  PagedDecodeReference run(std::int64_t drop_last = 0) const {
    return paged_decode_sparse({.q = q,
                                .k = PagedPool::contiguous(k),
                                .v = PagedPool::contiguous(v),
                                .page_indptr = indptr,
                                .page_indices = indices,
                                .kv_heads = 2,
                                .drop_last = drop_last});
  }
};

TEST(PagedDecodeSparseReferenceTest, EachKvHeadOfARowHasAListOfItsOwn) {
  const PagedDecodeReference result = TwoRows().run();
  const double mean = (0 + 100 + 300) / 3.0;
  const std::vector<double> want = {21, 21, 200, 200, 0, 0, mean, mean};
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_NEAR(result.out.at(i), want[static_cast<std::size_t>(i)], 1e-12) << i;
  EXPECT_NEAR(result.lse.at(0), 1.0, 1e-14);
  EXPECT_EQ(result.lse.at(2), 0.0);
  EXPECT_EQ(result.lse.at(4), -kInfinity) << "an empty list";
  EXPECT_NEAR(result.lse.at(7), std::log2(3.0), 1e-14);
  EXPECT_EQ(result.tokens, (std::vector<std::int64_t>{2, 3})) << "the longest list of each row";
  EXPECT_NEAR(result.abs_mass.at(6), mean, 1e-12);
}

TEST(PagedDecodeSparseReferenceTest, ScoresAreThoseOfTheListsOwnHead) {
  TwoRows rows;
  rows.q.set(0, 1.0);                // row 0, query head 0: kv head 0
  rows.k.set(3 * 2, std::log(3.0));  // slot 3 weighs 3 against slot 1's 1
  rows.k.set(3 * 2 + 1, 1000.0);     // of kv head 1
  EXPECT_NEAR(rows.run().out.at(0), (3 * 31 + 11) / 4.0, 1e-12);
  EXPECT_NEAR(rows.run().lse.at(0), 2.0, 1e-14);
}

TEST(PagedDecodeSparseReferenceTest, DropsTheLastOfEveryList) {
  const PagedDecodeReference result = TwoRows().run(1);
  EXPECT_EQ(values_of(result.out), (std::vector<double>{31, 31, 0, 0, 0, 0, 50, 50}));
}

TEST(PagedDecodeSparseReferenceTest, ListsThatCannotBeAreRefused) {
  const auto with = [](Tensor TwoRows::*array, std::int64_t at, double value) {
    TwoRows rows;
    (rows.*array).set(at, value);
    return refusal_of([&] { rows.run(); });
  };
  EXPECT_EQ(with(&TwoRows::indices, 1, 3),
            "paged decode sparse reference: page_indices of list 0 names slot 3 twice");
  EXPECT_EQ(with(&TwoRows::indptr, 4, 7),
            "paged decode sparse reference: page_indptr of list 3 is 3..7 of 6 indices");
  EXPECT_NE(with(&TwoRows::indices, 2, 4), "accepted") << "there are four slots";
  TwoRows rows;
  rows.indptr = integer_tensor({0, 2, 3});
  EXPECT_EQ(refusal_of([&] { rows.run(); }),
            "paged decode sparse reference: page_indptr is i32[3], but must be i32[5]");
}

}  // namespace
}  // namespace parity
