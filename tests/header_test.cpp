// Headers are guarded. The checker is tried on planted headers, then on ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/source_tree.hpp"

namespace parity {
namespace {

/// Headers whose first line that is neither empty nor a comment is not `#pragma once`.
std::vector<std::string> unguarded(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".hpp")) continue;
    const auto first = std::ranges::find_if(file.lines, [](const std::string& line) {
      return !line.empty() && !line.starts_with("//");
    });
    if (first == file.lines.end() || *first != "#pragma once") found.push_back(file.path);
  }
  return found;
}

TEST(HeaderTest, AHeaderWithoutGuardIsNamed) {
  EXPECT_EQ(unguarded({{"a.hpp", {"// Owns a.", "#pragma once", "", "struct A {};"}}}),
            std::vector<std::string>{});
  EXPECT_EQ(unguarded({{"b.hpp", {"// Owns b.", "struct B {};", "#pragma once"}}}),
            std::vector<std::string>{"b.hpp"});
  EXPECT_EQ(unguarded({{"c.hpp", {}}}), std::vector<std::string>{"c.hpp"});
}

TEST(HeaderTest, EveryHeaderIsGuarded) {
  const std::vector<SourceFile> files = source_tree(PARITY_SOURCE_DIR);
  ASSERT_GT(files.size(), 50u) << "looked in " << PARITY_SOURCE_DIR;
  EXPECT_EQ(unguarded(files), std::vector<std::string>{});
}

}  // namespace
}  // namespace parity
