// What a new kernel brings along is all there: the registry against the source tree and the page
// for other languages.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"
#include "harness/case.hpp"
#include "harness/kernel_spec.hpp"
#include "tests/source_tree.hpp"

namespace parity {
namespace {

using Names = std::set<std::string>;

/// Kernels that a file describes: it defines `KernelSpec x_spec()`.
Names described(const std::vector<SourceFile>& files) {
  const std::regex definition(R"(KernelSpec (\w+)_spec\(\) \{)");
  Names names;
  std::smatch match;
  for (const SourceFile& file : files)
    for (const std::string& line : file.lines)
      if (file.path.starts_with("harness/kernels/") && std::regex_match(line, match, definition))
        names.insert(match[1]);
  return names;
}

/// Files of kernel text, without folder.
Names kernel_files(const std::vector<SourceFile>& files) {
  Names names;
  for (const SourceFile& file : files)
    if (file.path.starts_with("device/kernels/"))
      names.insert(std::filesystem::path(file.path).filename());
  return names;
}

/// What the lines of a page's section on an operation lack of a kernel: its heading, or recipes.
Names undocumented(const std::vector<std::string>& page, const KernelSpec& kernel) {
  Names missing = {"### " + kernel.operation};
  for (const std::string& recipe : kernel.recipes) missing.insert("| `" + recipe + "` |");
  bool inside = false;
  for (const std::string& line : page) {
    if (line.starts_with("### ")) inside = line == "### " + kernel.operation;
    if (inside) std::erase_if(missing, [&](auto& text) { return line.starts_with(text); });
  }
  return missing;
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(RegistryTest, HoldsEveryKernelThatAFileDescribes) {
  EXPECT_EQ(described({{"harness/kernels/x.cpp", {"KernelSpec x_spec() {"}},
                       {"tests/y.cpp", {"KernelSpec y_spec() {"}}}),
            Names{"x"});
  Names registered;
  for (const KernelSpec& kernel : registry()) registered.insert(kernel.name);
  EXPECT_EQ(described(source_tree(PARITY_SOURCE_DIR)), registered)
      << "PARITY_KERNELS in CMakeLists.txt names them";
}

TEST(RegistryTest, EveryKernelTextIsEmbedded) {
  Names embedded;
  for (const auto& [file, text] : kernel_texts()) embedded.insert(std::string(file));
  EXPECT_EQ(kernel_files(source_tree(PARITY_SOURCE_DIR)), embedded)
      << "device/CMakeLists.txt lists what is not called <kernel>.cuh or <kernel>_params.cuh";
}

std::vector<InputType> types_of(const TensorList& inputs) {
  std::vector<InputType> types;
  for (const NamedTensor& input : inputs) types.push_back({input.name, input.tensor.type()});
  return types;
}

/// Of smoke cases, and of its first one with every recipe of ordinary length.
TEST(RegistryTest, EveryKernelSaysWhatItsInputsWillBe) {
  for (const KernelSpec& kernel : registry()) {
    ASSERT_TRUE(kernel.input_types) << kernel.name << " could be asked for any size";
    std::vector<Case> cases;
    for (const std::string& id : kernel.smoke) cases.push_back(parse_case(registry(), id));
    const Case first = cases.front();
    for (const std::string& recipe : kernel.recipes) {
      const auto& longest = kernel.uncombined_recipes;
      if (std::ranges::find(longest, recipe) != longest.end()) continue;
      cases.push_back(first);
      cases.back().recipe = recipe;
    }
    for (const Case& c : cases)
      EXPECT_EQ(kernel.input_types(c), types_of(kernel.inputs(c))) << c.id();
  }
}

/// 96 GiB, and one byte or so less than too much.
TEST(RegistryTest, ACaseThatIsTooLargeIsRefusedBeforeItIsMade) {
  const std::string id =
      "paged_decode_v1/q=f32,k=f32,v=f32/d=256,hq=4096,hkv=4096,page=4096/ragged";
  try {
    require_valid(parse_case(registry(), id));
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("bytes, but may have 1073741824"), std::string::npos)
        << error.what();
  }
  for (const KernelSpec& kernel : registry())
    for (const std::string& published : kernel.published)
      EXPECT_LE(cost(parse_case(registry(), published)), kMostCaseBytes) << published;
}

TEST(RegistryTest, EveryOperationAndRecipeStandsInTheSchema) {
  KernelSpec planted;
  planted.operation = "x";
  planted.recipes = {"plain", "odd"};
  EXPECT_EQ(undocumented({"### x", "| `plain` | 1 |", "### y", "| `odd` | 2 |"}, planted),
            Names{"| `odd` |"});
  EXPECT_EQ(undocumented({"### xy"}, planted), (Names{"### x", "| `odd` |", "| `plain` |"}));
  const std::vector<std::string> page =
      lines_of(std::filesystem::path(PARITY_SOURCE_DIR) / "datasets/SCHEMA.md");
  for (const KernelSpec& kernel : registry())
    EXPECT_EQ(undocumented(page, kernel), Names{}) << "datasets/SCHEMA.md, Recipes";
}

}  // namespace
}  // namespace parity
