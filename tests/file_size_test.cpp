// Files stay small enough to be read in one sitting. The checker is tried on planted trees, then on
// ours.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/source_tree.hpp"

namespace parity {
namespace {

constexpr std::size_t kLongest = 500;
constexpr std::size_t kLong = 300;

/// Files over 500 lines, each by name; then all over 300, if a tenth of all lines or more sits in
/// them.
std::vector<std::string> too_long(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  std::size_t all = 0;
  std::size_t in_long = 0;
  std::string long_files;
  for (const SourceFile& file : files) {
    const std::size_t lines = file.lines.size();
    const std::string words = file.path + " has " + std::to_string(lines) + " lines";
    all += lines;
    if (lines > kLongest) found.push_back(words);
    if (lines <= kLong) continue;
    in_long += lines;
    long_files += " " + file.path;
  }
  if (in_long * 10 >= all && in_long > 0) {
    found.push_back(std::to_string(in_long) + " of " + std::to_string(all) +
                    " lines sit in long files:" + long_files);
  }
  return found;
}

SourceFile file_of(const std::string& path, std::size_t lines) {
  return {path, std::vector<std::string>(lines)};
}

TEST(FileSizeTest, FileOver500LinesIsNamed) {
  std::vector<SourceFile> planted = {file_of("harness/a.cpp", 500)};
  for (int i = 0; i < 16; ++i) planted.push_back(file_of("b.cpp", 300));
  EXPECT_EQ(too_long(planted), std::vector<std::string>{});
  planted[0] = file_of("harness/a.cpp", 501);
  EXPECT_EQ(too_long(planted), std::vector<std::string>{"harness/a.cpp has 501 lines"});
}

TEST(FileSizeTest, TenthOfAllLinesInLongFilesIsTooMuch) {
  std::vector<SourceFile> planted = {file_of("harness/a.cpp", 301)};
  for (int i = 0; i < 9; ++i) planted.push_back(file_of("b.cpp", 300));
  EXPECT_EQ(too_long(planted),
            (std::vector<std::string>{"301 of 3001 lines sit in long files: harness/a.cpp"}));
  planted.push_back(file_of("c.cpp", 300));
  EXPECT_EQ(too_long(planted), std::vector<std::string>{});
}

TEST(FileSizeTest, TheTreeIsWithinItsLimits) {
  const std::vector<SourceFile> files = source_tree(PARITY_SOURCE_DIR);
  ASSERT_GT(files.size(), 50u) << "looked in " << PARITY_SOURCE_DIR;
  EXPECT_EQ(too_long(files), std::vector<std::string>{});
}

}  // namespace
}  // namespace parity
