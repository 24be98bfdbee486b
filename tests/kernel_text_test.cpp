// Rendering of kernel text.
#include "device/kernel_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "datasets/errors.hpp"
#include "fake_device.hpp"

namespace parity {
namespace {

const VariantSpec kDecode{"paged_decode_v1",
                          {{"D", 64}, {"GROUP", 4}},
                          {{"q", Dtype::f32}, {"k", Dtype::f16}, {"v", Dtype::bf16}}};

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(KernelTextTest, EmbeddedTextIsTheFileByteForByte) {
  const std::filesystem::path folder = PARITY_SOURCE_DIR "/device/kernels";
  std::set<std::string> embedded;
  for (const auto& [file, text] : kernel_texts()) {
    EXPECT_EQ(text, read_file(folder / file)) << file;
    embedded.emplace(file);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    EXPECT_TRUE(embedded.contains(entry.path().filename())) << entry.path() << " is not embedded";
}

TEST(KernelTextTest, OpensWithTheKeyAndItsMacrosInOrder) {
  const std::string text = render(kDecode);
  EXPECT_TRUE(
      text.starts_with("// parity module: paged_decode_v1<D=64,GROUP=4>(q=f32,k=f16,v=bf16)\n"
                       "#define PARITY_DTYPE_Q f32\n"
                       "#define PARITY_DTYPE_K f16\n"
                       "#define PARITY_DTYPE_V bf16\n"
                       "#define PARITY_D 64\n"
                       "#define PARITY_GROUP 4\n"))
      << text.substr(0, 400);
}

TEST(KernelTextTest, NeedsNoIncludePathAndHoldsEachTextOnce) {
  const std::string text = render(kDecode);
  EXPECT_EQ(occurrences(text, "#include \""), 0u);
  EXPECT_EQ(occurrences(text, "#pragma once"), 0u);
  for (const auto& [file, content] : kernel_texts()) {
    const std::string_view first_line = content.substr(0, content.find('\n'));
    EXPECT_LE(occurrences(text, first_line), 1u) << file;
  }
  const auto& numeric =
      *std::ranges::find(kernel_texts(), "numeric.cuh", [](auto& t) { return t.first; });
  EXPECT_EQ(occurrences(text, numeric.second.substr(0, numeric.second.find('\n'))), 1u);
}

TEST(KernelTextTest, DtypesAndConstantsChangeTheText) {
  VariantSpec other = kDecode;
  other.dtypes[1].second = Dtype::f32;
  EXPECT_NE(render(kDecode), render(other));
  other = kDecode;
  other.constants[0].second = 128;
  EXPECT_NE(render(kDecode), render(other));
}

// D4: an edit of any file that a kernel includes, however deep, changes its text; of any
// other file, does not.
TEST(KernelTextTest, EveryIncludedFileIsPartOfTheTextAndNoOther) {
  const std::string before = render(kDecode);
  std::set<std::string_view> included;
  for (std::size_t i = 0; i < kernel_texts().size(); ++i) {
    KernelTexts edited = kernel_texts();
    const std::string text = std::string(edited[i].second) + "// edited\n";
    edited[i].second = text;
    if (render(kDecode, edited) != before) included.insert(edited[i].first);
  }
  for (const char* file : {"paged_decode_v1.cuh", "paged_decode_attend.cuh", "numeric.cuh",
                           "simt.cuh", "paged_decode_params.cuh"})
    EXPECT_TRUE(included.contains(file)) << file;
  EXPECT_FALSE(included.contains("split_kv_merge.cuh"));
  EXPECT_FALSE(included.contains("paged_decode_v2.cuh"));
}

TEST(KernelTextTest, UnknownKernelIsRefusedByName) {
  try {
    render({"no_such_kernel", {}, {}});
    FAIL() << "rendered a kernel that does not exist";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("no_such_kernel"), std::string::npos);
  }
}

}  // namespace
}  // namespace parity
