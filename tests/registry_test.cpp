// What a new kernel brings along is all there: the registry against the source tree and the page
// for other languages.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "device/kernel_text.hpp"
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
