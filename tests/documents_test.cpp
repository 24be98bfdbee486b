// The documents are true: files and names they mention are there.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct WalkRow {
  std::string file;
  std::string name;
};

/// Rows "| 7 | `file` | `name` | ..." of a Markdown text.
std::vector<WalkRow> walk(const std::string& text) {
  const std::regex row(R"(\|\s*\d+\s*\|\s*`([^`]+)`\s*\|\s*`([^`]+)`\s*\|)");
  std::vector<WalkRow> rows;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it)
    rows.push_back({(*it)[1], (*it)[2]});
  return rows;
}

/// What is wrong with the walk; empty when it is true.
std::string fault(const std::vector<WalkRow>& rows, const std::filesystem::path& root) {
  for (const WalkRow& row : rows) {
    const std::string text = read(root / row.file);
    if (text.empty()) return row.file + " is not there";
    if (!std::regex_search(text, std::regex("\\b" + row.name + "\\b")))
      return row.file + " holds no " + row.name;
  }
  return "";
}

TEST(DocumentsTest, TheWalkOfOneCaseIsTrue) {
  const std::filesystem::path root = PARITY_SOURCE_DIR;
  const std::vector<WalkRow> rows = walk(read(root / "CONTRIBUTING.md"));
  EXPECT_GE(rows.size(), 20u);
  EXPECT_EQ(fault(rows, root), "");
}

TEST(DocumentsTest, AWalkWithAMissingFileOrNameIsCaught) {
  const std::filesystem::path root = PARITY_SOURCE_DIR;
  EXPECT_NE(fault(walk("| 1 | `harness/no_such.cpp` | `judge` | x |"), root), "");
  EXPECT_NE(fault(walk("| 1 | `harness/judge.cpp` | `no_such_name` | x |"), root), "");
}

TEST(DocumentsTest, EveryFileThatADocumentMentionsIsThere) {
  const std::filesystem::path root = PARITY_SOURCE_DIR;
  // A path in backticks with a folder of ours in front and an ending.
  const std::regex path(
      "`((?:reference|device|harness|datasets|tests|reports|cmake)/[A-Za-z0-9_./-]+\\.[a-z]+)`");
  std::size_t mentioned = 0;
  for (const char* document :
       {"README.md", "CONTRIBUTING.md", "harness/PROTOCOL.md", "datasets/SCHEMA.md"}) {
    const std::string text = read(root / document);
    ASSERT_FALSE(text.empty()) << document;
    for (std::sregex_iterator it(text.begin(), text.end(), path), end; it != end;
         ++it, ++mentioned) {
      const std::string file = (*it)[1];
      if (file.find("/x.") != std::string::npos) continue;  // "add a kernel" calls its kernel x
      EXPECT_TRUE(std::filesystem::exists(root / file)) << document << " mentions " << file;
    }
  }
  EXPECT_GT(mentioned, 20u);
}

}  // namespace
