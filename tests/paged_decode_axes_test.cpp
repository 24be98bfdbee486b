// The axes of paged decode: which cases suite full has, what every page layout holds, what windows,
// scales and caps make of the data, and which wrong answers are rejected for it.
#include "harness/kernels/paged_decode_axes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/case.hpp"
#include "harness/judge.hpp"
#include "harness/kernels/paged_decode_expectation.hpp"
#include "harness/kernels/paged_decode_inputs.hpp"
#include "harness/kernels/paged_decode_layout.hpp"
#include "harness/pack_builder.hpp"

namespace parity {
namespace {

Case decode_case(const std::string& rest) {
  return parse_case(registry(), "paged_decode_v1/" + rest);
}

std::vector<Case> full_cases() {
  std::vector<Case> cases = suite_cases(registry(), Suite::full);
  std::erase_if(cases, [](const Case& c) { return c.spec->operation != "paged_decode"; });
  return cases;
}

/// A row's tokens as (page, slot), and elements of k and v through the case's layout.
class Pools {
 public:
  explicit Pools(const Case& c) : c_(c), inputs_(paged_decode_inputs(c)) {}

  double element(Pool pool, std::int64_t row, std::int64_t token, std::int64_t head,
                 std::int64_t i) const {
    const Tensor& tensor = find(inputs_, pool_tensor(page_layout(c_), pool));
    const PoolPlace place = pool_place(page_layout(c_), pool, tensor.shape());
    const std::int64_t position = at("first_page_offset", row) + token;
    const std::int64_t page =
        at("page_indices", at("page_indptr", row) + position / c_.constant("page"));
    return tensor.at(place.at(page, position % c_.constant("page"), head) + i);
  }
  const Tensor& tensor(std::string_view name) const { return find(inputs_, name); }

 private:
  std::int64_t at(std::string_view name, std::int64_t i) const {
    return static_cast<std::int64_t>(find(inputs_, name).at(i));
  }

  Case c_;
  TensorList inputs_;
};

TEST(PagedDecodeAxesTest, EveryCaseOfFullParsesBackAndIsValid) {
  std::set<std::string> ids;
  for (const Case& c : full_cases()) {
    EXPECT_EQ(parse_case(registry(), c.id()), c);
    EXPECT_NO_THROW(require_valid(c)) << c.id();
    ids.insert(c.id());
  }
  EXPECT_EQ(ids.size(), full_cases().size());
}

TEST(PagedDecodeAxesTest, FullHasEveryHeadDimGroupAndLayoutAtBothVersions) {
  for (const char* kernel : {"paged_decode_v1", "paged_decode_v2"}) {
    std::set<std::int64_t> dims, groups, layouts;
    std::set<std::int64_t> of_several;
    for (const Case& c : full_cases()) {
      if (c.spec->name != kernel) continue;
      dims.insert(c.constant("d"));
      layouts.insert(c.constant("layout"));
      groups.insert(c.constant("hq") / c.constant("hkv"));
      if (c.constant("hkv") > 1) of_several.insert(c.constant("hq") / c.constant("hkv"));
    }
    EXPECT_EQ(dims.size(), 32u) << "8 to 256 in steps of 8";
    EXPECT_EQ(layouts.size(), page_layout_words().size());
    EXPECT_TRUE(std::ranges::includes(
        groups, std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32, 71}));
    EXPECT_TRUE(std::ranges::includes(of_several, std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 8}));
  }
}

TEST(PagedDecodeAxesTest, FullHasEveryTupleOfDtypesAtBothVersions) {
  std::map<std::string, std::set<std::vector<Dtype>>> tuples;
  for (const Case& c : full_cases())
    tuples[c.spec->name].insert({c.dtype("q"), c.dtype("k"), c.dtype("v")});
  EXPECT_EQ(tuples["paged_decode_v1"].size(), 75u);
  EXPECT_EQ(tuples["paged_decode_v2"].size(), 75u);
}

TEST(PagedDecodeAxesTest, PublishedModelsAreInFullAtLongContexts) {
  std::set<std::string> full;
  for (const Case& c : suite_cases(registry(), Suite::full)) full.insert(c.id());
  for (const KernelSpec& kernel : registry()) {
    if (!kernel.operation.starts_with("paged_decode")) continue;
    const std::set<std::string> long_recipes(kernel.uncombined_recipes.begin(),
                                             kernel.uncombined_recipes.end());
    for (const std::string& id : kernel.published) {
      EXPECT_TRUE(full.contains(id)) << id;
      EXPECT_TRUE(long_recipes.contains(parse_case(registry(), id).recipe)) << id;
    }
  }
}

TEST(PagedDecodeAxesTest, WhatIsNoCaseIsRefusedWithTheReason) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"q=f16,out=bf16,k=f16,v=f16/d=64,hq=4,hkv=1,page=16/ragged", "out must be f32 or q's dtype"},
      {"q=f32,k=f16,v=bf16/d=64,hq=4,hkv=1,page=16,layout=interleaved/ragged", "need one dtype"},
      {"q=f32,k=e4m3,v=f16/d=64,hq=4,hkv=1,page=16,window=1/ragged", "whether k_scale is used"},
      {"q=f32,k=f16,v=f16/d=64,hq=4,hkv=1,page=16,window=1,softcap=5/ragged", "whether softcap"},
      {"q=f32,k=f16,v=f16/d=64,hq=4,hkv=1,page=16,softcap=50/short", "fewer than 16 tokens"},
      {"q=f32,k=f16,v=f16/d=64,hq=4,hkv=3,page=16/ragged", "hq must be a multiple of hkv"},
  };
  for (const auto& [rest, reason] : refused) try {
      paged_decode_inputs(decode_case(rest));
      ADD_FAILURE() << rest << " was accepted";
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
}

TEST(PagedDecodeAxesTest, EveryLayoutHoldsTheSameTokensAndHasTheSameAnswer) {
  const std::string stem = "q=f16,k=e5m2,v=e5m2/d=16,hq=4,hkv=2,page=8,window=5";
  const Case nhd = decode_case(stem + "/ragged");
  const Pools want(nhd);
  const PackCase answer = build_case(nhd);
  for (const char* layout : {"hnd", "interleaved", "padded"}) {
    const Case c = decode_case(stem + ",layout=" + layout + "/ragged");
    EXPECT_EQ(c.data_seed(), nhd.data_seed());
    const Pools got(c);
    const std::vector<PagedRow> rows = paged_decode_rows("ragged", 8);
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (std::int64_t t = 0; t < rows[row].tokens; ++t)
        for (std::int64_t i = 0; i < 2 * 16; ++i)
          for (const Pool pool : {Pool::k, Pool::v})
            ASSERT_EQ(got.element(pool, static_cast<std::int64_t>(row), t, i / 16, i % 16),
                      want.element(pool, static_cast<std::int64_t>(row), t, i / 16, i % 16))
                << layout << " row " << row << " token " << t;
    const PackCase laid_out = build_case(c);
    for (std::size_t i = 0; i < answer.outputs.size(); ++i)
      EXPECT_EQ(laid_out.outputs[i].expected, answer.outputs[i].expected) << layout;
  }
}

TEST(PagedDecodeAxesTest, LayoutsHaveTheShapesThatTheSchemaSays) {
  const auto shape = [](const std::string& layout, std::string_view tensor) {
    const Pools pools(decode_case("q=f32,k=f16,v=f16/d=8,hq=3,hkv=3,page=4" + layout + "/exact"));
    return pools.tensor(tensor).shape();
  };
  constexpr std::int64_t kPages = 12 + 4 + 8 + 2;
  EXPECT_EQ(shape("", "k_pages"), (Shape{kPages, 4, 3, 8}));
  EXPECT_EQ(shape(",layout=hnd", "v_pages"), (Shape{kPages, 3, 4, 8}));
  EXPECT_EQ(shape(",layout=padded", "v_pages"), (Shape{kPages, 5, 3, 8}));
  EXPECT_EQ(shape(",layout=interleaved", "kv_pages"), (Shape{kPages, 2, 4, 3, 8}));
}

/// Elements that are neither a row's token nor garbage would be zero or normal.
TEST(PagedDecodeAxesTest, PaddingAndUnusedSlotsHoldGarbageInEveryDtype) {
  for (const std::string dtype : {"f32", "f16", "bf16", "e4m3", "e5m2"}) {
    const Case c =
        decode_case("q=f32,k=" + dtype + ",v=f16/d=8,hq=1,hkv=1,page=2,layout=padded/short");
    const Pools pools(c);
    const Tensor& k = pools.tensor("k_pages");
    const double large = dtype == "e4m3" ? 448.0 : 1000.0;
    for (std::int64_t page = 0; page < k.shape()[0]; ++page)
      for (std::int64_t i = (page * 3 + 2) * 8; i < (page * 3 + 3) * 8; ++i)
        EXPECT_TRUE(std::isnan(k.at(i)) || k.at(i) >= large) << dtype << ' ' << k.at(i);
    std::int64_t garbage = 0;
    for (std::int64_t i = 0; i < k.elements(); ++i)
      garbage += std::isnan(k.at(i)) || k.at(i) >= large ? 1 : 0;
    // 1 + 2 + 3 + 5 tokens of 8 elements are real.
    EXPECT_EQ(garbage, k.elements() - 11 * 8) << dtype;
  }
}

TEST(PagedDecodeAxesTest, NeedlesStandAtBothEndsOfTheWindow) {
  const Case c = decode_case("q=f32,k=e4m3,v=f32/d=64,hq=4,hkv=2,page=8,window=16/offset");
  const Pools pools(c);
  // Row 1 has 41 tokens, of which the last 16 are attended.
  const double factor = std::log(16.0) / (0.125 * 64) / 0.8125;
  const Tensor& q = pools.tensor("q");
  const auto is_needle = [&](std::int64_t token) {
    double off = 0;
    for (std::int64_t i = 0; i < 64; ++i) {
      const double want = factor * q.at((1 * 4 + 2) * 64 + i);
      off += std::abs(pools.element(Pool::k, 1, token, 1, i) - want) / (std::abs(want) + 0.1);
    }
    return off / 64 < 0.1;  // e4m3 rounds to within 1/16, ln_of to within 1 %
  };
  EXPECT_TRUE(is_needle(40));
  EXPECT_TRUE(is_needle(24));
  for (const std::int64_t token : {0, 23, 25, 39}) EXPECT_FALSE(is_needle(token)) << token;
}

TEST(PagedDecodeAxesTest, TheNanRecipePlacesItsValuesWithinTheWindow) {
  for (const std::string window : {"", ",window=5", ",window=1"}) {
    const Case c = decode_case("q=f32,k=f16,v=f32/d=8,hq=1,hkv=1,page=4" + window + "/nan");
    const ReferenceResult want = paged_decode_expectation(c, paged_decode_inputs(c));
    const Tensor& lse = *want.outputs[1].expected;
    const Tensor& out = *want.outputs[0].expected;
    EXPECT_TRUE(std::isnan(lse.at(0))) << window;
    EXPECT_TRUE(std::isnan(out.at(2 * 8 + 3)) && std::isfinite(lse.at(2))) << window;
    EXPECT_TRUE(std::isnan(out.at(3 * 8 + 5)) && std::isfinite(lse.at(3))) << window;
    EXPECT_TRUE(std::isinf(lse.at(4)) && out.at(4 * 8) == 0) << window;
  }
}

std::vector<std::string> wrong_answers(const std::string& rest) {
  const Case c = decode_case(rest);
  EXPECT_NO_THROW(build_case(c)) << "also judges that each is rejected";
  const ReferenceResult result = paged_decode_expectation(c, paged_decode_inputs(c));
  std::vector<std::string> names;
  for (const auto& [name, answer] : result.wrong_answers) {
    names.push_back(name);
    double worst = 0;
    for (const auto& [output, tensor] : answer) {
      const PackOutput& want = result.outputs[output == "out" ? 0 : 1];
      Tensor stored(want.type);
      for (std::int64_t i = 0; i < stored.elements(); ++i) stored.set(i, tensor.at(i));
      worst = std::max(worst, violation(want, stored));
    }
    EXPECT_GE(worst, 4.0) << name;
  }
  return names;
}

TEST(PagedDecodeAxesTest, WrongAnswersAreThoseOfTheFaultsThatTheCaseCanShow) {
  using Names = std::vector<std::string>;
  const Names dropped = {"last_token_dropped", "last_token_dropped in lse"};
  EXPECT_EQ(wrong_answers("q=bf16,k=f16,v=f16/d=64,hq=4,hkv=1,page=16/ragged"), dropped);
  EXPECT_EQ(wrong_answers("q=bf16,k=f16,v=f16/d=64,hq=4,hkv=1,page=16,window=4096/ragged"), dropped)
      << "no row has a token outside the window";
  EXPECT_EQ(
      wrong_answers("q=bf16,k=e4m3,v=e5m2/d=64,hq=4,hkv=1,page=16,window=16,softcap=50/ragged"),
      (Names{"last_token_dropped", "last_token_dropped in lse", "window_one_longer",
             "window_one_longer in lse", "window_one_shorter in lse", "softcap_ignored",
             "softcap_ignored in lse", "k_scale_ignored", "k_scale_ignored in lse",
             "v_scale_ignored"}));
  EXPECT_EQ(wrong_answers("q=bf16,k=f16,v=f16/d=64,hq=4,hkv=1,page=16,window=1/ragged"),
            (Names{"last_token_dropped", "last_token_dropped in lse", "window_one_longer",
                   "window_one_longer in lse"}));
}

TEST(PagedDecodeAxesTest, AnF32OutputIsHeldToTheToleranceOfF32) {
  const Case c = decode_case("q=bf16,out=f32,k=bf16,v=bf16/d=64,hq=4,hkv=1,page=16/ragged");
  const PackCase built = build_case(c);
  EXPECT_EQ(built.outputs[0].type.dtype, Dtype::f32);
  EXPECT_EQ(tolerance_of(built.outputs[0]), 1e-5);
}

}  // namespace
}  // namespace parity
