// Golden data of toy cases: what is refused, what is written, what is taken again.
#include "harness/pack_builder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "datasets/errors.hpp"
#include "harness/judge.hpp"
#include "tests/toy_kernel.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr const char* kId = "toy_v1/x=bf16,w=f16/rows=3,n=8,splits=1/plain";
constexpr const char* kZeros = "toy_v1/x=bf16,w=f16/rows=3,n=8,splits=1/zeros";

/// Why building `id` of this spec is refused; empty when it is not.
std::string refusal(const KernelSpec& spec, std::string_view id) {
  try {
    build_case(parse_case({&spec, 1}, id));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PackBuilderTest, CaseHoldsInputsAndAnswersOfItsDataPart) {
  const KernelSpec spec = toy_spec();
  const Case c = parse_case({&spec, 1}, kId);
  const PackCase built = build_case(c);
  EXPECT_EQ(built.id, kId);
  EXPECT_EQ(built.operation, "toy");
  EXPECT_EQ(built.recipe, "plain");
  EXPECT_EQ(built.seed, c.data_seed());
  ASSERT_EQ(built.inputs.size(), 2u);
  EXPECT_EQ(built.inputs[0].name, "x");
  EXPECT_EQ(built.inputs[0].type.to_string(), "bf16[3,8]");
  ASSERT_TRUE(built.inputs[0].data.has_value());
  EXPECT_EQ(built.inputs[0].digest, digest(*built.inputs[0].data));
  EXPECT_EQ(*built.inputs[0].data, find(toy_inputs(c), "x"));
  ASSERT_EQ(built.outputs.size(), 2u);
  EXPECT_TRUE(built.outputs[0].expected && built.outputs[0].bound);
}

TEST(PackBuilderTest, WrongAnswerThatPassesIsRefusedByName) {
  KernelSpec spec = toy_spec();
  spec.reference = [](const Case& c, const TensorList& inputs) {
    ReferenceResult result = toy_reference(c, inputs);
    Tensor nearly = *result.outputs[0].expected;
    for (std::int64_t i = 0; i < nearly.elements(); ++i) nearly.set(i, nearly.at(i) * (1 + 1e-7));
    result.wrong_answers = {{"last token dropped", {{"y", nearly}}}};
    return result;
  };
  const std::string why = refusal(spec, kId);
  EXPECT_NE(why.find("last token dropped"), std::string::npos) << why;
  EXPECT_NE(why.find(kId), std::string::npos) << why;
}

TEST(PackBuilderTest, WrongAnswerEqualToTheRightOneIsRefused) {
  KernelSpec spec = toy_spec();
  spec.reference = [](const Case& c, const TensorList& inputs) {
    ReferenceResult result = toy_reference(c, inputs);
    result.wrong_answers = {{"merge skipped", {{"y", *result.outputs[0].expected}}}};
    return result;
  };
  EXPECT_NE(refusal(spec, kId).find("merge skipped"), std::string::npos);
}

TEST(PackBuilderTest, FourTolerancesAreNeededNotOne) {
  const auto with_factor = [](double factor) {
    KernelSpec spec = toy_spec();
    spec.reference = [factor](const Case& c, const TensorList& inputs) {
      ReferenceResult result = toy_reference(c, inputs);
      Tensor wrong = *result.outputs[0].expected;
      for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, wrong.at(i) * factor);
      result.wrong_answers = {{"scaled", {{"y", std::move(wrong)}}}};
      return result;
    };
    return spec;
  };
  constexpr const char* kFull = "toy_v1/x=f32,w=f32/rows=3,n=8,splits=1/plain";
  EXPECT_NE(refusal(with_factor(1 + 2e-5), kFull).find("'scaled' is only 2"), std::string::npos);
  EXPECT_EQ(refusal(with_factor(1 + 5e-5), kFull), "");
}

TEST(PackBuilderTest, AllZeroAnswerIsToldFromTheRightOneUnlessDegenerate) {
  KernelSpec spec = toy_spec();
  EXPECT_EQ(refusal(spec, kZeros), "");
  spec.degenerate_recipes.clear();
  EXPECT_NE(refusal(spec, kZeros).find("'y all zero'"), std::string::npos);
}

TEST(PackBuilderTest, ReferenceThatMeasuresCancellationIsRefusedWithItsReason) {
  KernelSpec spec = toy_spec();
  spec.reference = [](const Case& c, const TensorList& inputs) {
    ReferenceResult result = toy_reference(c, inputs);
    result.refused = "row 2 cancels 900-fold";
    return result;
  };
  EXPECT_NE(refusal(spec, kId).find("row 2 cancels 900-fold"), std::string::npos);
}

TEST(PackBuilderTest, AnswerThatNoKernelCanGiveIsRefused) {
  KernelSpec spec = toy_spec();
  spec.reference = [](const Case& c, const TensorList& inputs) {
    ReferenceResult result = toy_reference(c, inputs);
    result.outputs[0].expected->set(0, 1e6);  // beyond f16
    return result;
  };
  const std::string why = refusal(spec, "toy_v1/x=f16,w=f16/rows=3,n=8,splits=1/plain");
  EXPECT_NE(why.find("correctly rounded"), std::string::npos) << why;
}

TEST(PackBuilderTest, ReferenceMustGiveTheDeclaredOutputs) {
  KernelSpec spec = toy_spec();
  spec.reference = [](const Case& c, const TensorList& inputs) {
    ReferenceResult result = toy_reference(c, inputs);
    result.outputs.pop_back();
    return result;
  };
  EXPECT_NE(refusal(spec, kId).find("declares"), std::string::npos);
}

TEST(PackBuilderTest, CombinationThatIsNoCaseIsRefused) {
  EXPECT_NE(refusal(toy_spec(), "toy_v1/x=f32,w=f32/rows=3,n=0,splits=1/plain"), "");
}

class PacksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "parity_packs_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    cases_ = suite_cases(kernels_, Suite::smoke);
  }
  void TearDown() override { fs::remove_all(folder_); }

  PackPaths ensure() const { return ensure_packs(cases_, folder_ / "packs", provenance_); }

  const std::vector<KernelSpec> kernels_ = {toy_spec()};
  const Provenance provenance_{.build = "b1", .reference = "r1"};
  std::vector<Case> cases_;
  fs::path folder_;
};

TEST_F(PacksTest, WorkersPackHasTheInputsAndNoAnswers) {
  const PackPaths paths = ensure();
  const PackReader golden(paths.golden);
  const PackReader inputs(paths.inputs);
  EXPECT_EQ(golden.ids(), kernels_[0].smoke);
  EXPECT_EQ(inputs.ids(), kernels_[0].smoke);
  for (const Case& c : cases_) {
    const PackCase built = build_case(c);
    const PackCase stored = golden.read(c.id());
    const PackCase handed = inputs.read(c.id());
    ASSERT_EQ(stored.outputs.size(), 2u);
    ASSERT_EQ(handed.inputs.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(stored.outputs[i].expected, built.outputs[i].expected);
      EXPECT_EQ(stored.outputs[i].bound, built.outputs[i].bound);
      EXPECT_FALSE(handed.outputs[i].expected || handed.outputs[i].bound);
      EXPECT_EQ(handed.outputs[i].type, built.outputs[i].type);
      EXPECT_EQ(handed.inputs[i].data, built.inputs[i].data);
    }
  }
}

TEST_F(PacksTest, PacksThatAreThereAreTaken) {
  const PackPaths paths = ensure();
  const auto written = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(paths.golden, written);
  const PackPaths again = ensure();
  EXPECT_EQ(again.golden, paths.golden);
  EXPECT_EQ(again.inputs, paths.inputs);
  EXPECT_EQ(fs::last_write_time(paths.golden), written);
}

TEST_F(PacksTest, MissingHalfIsMadeAgain) {
  const PackPaths paths = ensure();
  fs::remove(paths.inputs);
  EXPECT_EQ(PackReader(ensure().inputs).ids(), kernels_[0].smoke);
}

TEST_F(PacksTest, WhoeverIsToldMayEndItAndNoPackIsLeft) {
  const fs::path folder = folder_ / "packs";
  std::vector<std::size_t> told;
  ensure_packs(cases_, folder, {.build = "told", .reference = "r1"},
               [&](std::size_t made) { told.push_back(made); });
  ASSERT_EQ(told.size(), cases_.size());
  EXPECT_EQ(told.back(), cases_.size());
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  const auto before = files();
  EXPECT_THROW(ensure_packs(cases_, folder, {.build = "ended", .reference = "r1"},
                            [](std::size_t) { throw DatasetError("enough"); }),
               DatasetError);
  EXPECT_EQ(files(), before);
}

TEST_F(PacksTest, APackOfNoCasesCanBeRead) {
  EXPECT_TRUE(PackReader(ensure_packs({}, folder_ / "packs", provenance_).inputs).ids().empty());
}

TEST_F(PacksTest, AnotherBuildReferenceOrSelectionIsAnotherPack) {
  const fs::path golden = ensure().golden;
  const fs::path folder = folder_ / "packs";
  EXPECT_NE(ensure_packs(cases_, folder, {.build = "b2", .reference = "r1"}).golden, golden);
  EXPECT_NE(ensure_packs(cases_, folder, {.build = "b1", .reference = "r2"}).golden, golden);
  cases_.pop_back();
  EXPECT_NE(ensure().golden, golden);
}

TEST_F(PacksTest, DamagedPackSaysToRemoveIt) {
  const PackPaths paths = ensure();
  std::ofstream(paths.inputs, std::ios::trunc) << "not a pack";
  try {
    ensure();
    FAIL() << "a damaged pack was taken";
  } catch (const DatasetError& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find(paths.inputs.string()), std::string::npos) << words;
    const std::size_t advice = words.find("; remove it ");
    EXPECT_NE(advice, std::string::npos) << words;
    EXPECT_EQ(words.find("remove", advice + 4), std::string::npos) << "once: " << words;
  }
}

TEST_F(PacksTest, RefusedCaseLeavesNoPackBehind) {
  KernelSpec spec = toy_spec();
  spec.degenerate_recipes.clear();
  cases_.push_back(parse_case({&spec, 1}, kZeros));
  EXPECT_THROW(ensure(), UsageError);
  EXPECT_TRUE(fs::is_empty(folder_ / "packs"));
}

TEST_F(PacksTest, FolderThatCannotBeMadeIsADatasetError) {
  std::ofstream(folder_ / "packs") << "a file";
  EXPECT_THROW(ensure(), DatasetError);
}

}  // namespace
}  // namespace parity
