// Cascades made flat, against tables worked out by hand.
#include "reference/paged_decode_cascade.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/refusal.hpp"
#include "tests/tensor_values.hpp"

namespace parity {
namespace {

/// Groups of two rows and one row; pages of 4 slots.
struct Groups {
  Tensor group_indptr = integer_tensor({0, 2, 3});
  Tensor prefix_indptr = integer_tensor({0, 2, 2});
  Tensor prefix_indices = integer_tensor({7, 5});
  Tensor page_indptr = integer_tensor({0, 1, 1, 3});
  Tensor page_indices = integer_tensor({2, 9, 4});
  Tensor last = integer_tensor({3, 0, 1});
  Tensor first = integer_tensor({0, 0, 2});

  FlatPageTable flat() const {
    return flatten(
        {group_indptr, prefix_indptr, prefix_indices, page_indptr, page_indices, last, first}, 4);
  }
};

TEST(PagedDecodeCascadeReferenceTest, ARowIsItsGroupsPrefixThenItsSuffix) {
  const FlatPageTable flat = Groups().flat();
  EXPECT_EQ(values_of(flat.page_indptr), (std::vector<double>{0, 3, 5, 7}));
  EXPECT_EQ(values_of(flat.page_indices), (std::vector<double>{7, 5, 2, 7, 5, 9, 4}));
  EXPECT_EQ(values_of(flat.last_page_len), (std::vector<double>{3, 4, 1})) << "row 1 ends whole";
  EXPECT_EQ(values_of(flat.first_page_offset), (std::vector<double>{0, 0, 2}));
}

TEST(PagedDecodeCascadeReferenceTest, TablesThatCannotBeAreRefused) {
  const auto with = [](Tensor Groups::*array, std::int64_t at, double value) {
    Groups groups;
    (groups.*array).set(at, value);
    return refusal_of([&] { groups.flat(); });
  };
  EXPECT_EQ(with(&Groups::first, 0, 1),
            "paged decode cascade reference: first_page_offset of row 0 is 1 behind a prefix");
  EXPECT_EQ(with(&Groups::prefix_indptr, 1, 3),
            "paged decode cascade reference: prefix_indptr of group 0 is 0..3 of 2 indices");
  EXPECT_EQ(with(&Groups::page_indptr, 3, 4),
            "paged decode cascade reference: page_indptr of row 2 is 1..4 of 3 indices");
  EXPECT_EQ(with(&Groups::group_indptr, 2, 2),
            "paged decode cascade reference: group_indptr is i32[3], but must end at the 3 rows");
}

}  // namespace
}  // namespace parity
