// The project's own source files as the tests of the house see them: lines and includes.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace parity {

struct SourceFile {
  std::string path;  ///< relative to the tree's root, with '/'
  std::vector<std::string> lines;

  /// What each #include names, with its line number from 1.
  std::vector<std::pair<std::size_t, std::string>> includes() const {
    static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
    std::vector<std::pair<std::size_t, std::string>> found;
    std::smatch match;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::regex_match(lines[i], match, pattern)) found.emplace_back(i + 1, match[1].str());
    }
    return found;
  }
};

/// C++, kernel text, Python, shell and CMake files in the project's rooms below `root`, by path.
inline std::vector<SourceFile> source_tree(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  static const std::vector<std::string> rooms = {"cmake",   "datasets",  "device",  "examples",
                                                 "harness", "reference", "reports", "tests"};
  static const std::vector<std::string> endings = {".cpp", ".hpp", ".cuh",  ".in",
                                                   ".py",  ".sh",  ".cmake"};
  std::vector<SourceFile> files;
  for (const std::string& room : rooms) {
    if (!fs::exists(root / room)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const bool source = std::ranges::count(endings, entry.path().extension().string()) > 0 ||
                          entry.path().filename() == "CMakeLists.txt";
      if (!entry.is_regular_file() || !source) continue;
      SourceFile file{fs::relative(entry.path(), root).generic_string(), {}};
      std::ifstream in(entry.path());
      for (std::string line; std::getline(in, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace parity
