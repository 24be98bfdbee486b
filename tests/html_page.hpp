// Pages as the tests of the HTML writer take them apart.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report.hpp"

namespace parity::test {

inline std::string html_of(const JoinedRuns& joined) {
  std::ostringstream out;
  make_html_writer()->write(joined, out);
  return out.str();
}

/// What stands between each `open` and the next `close`.
inline std::vector<std::string> all_between(std::string_view text, std::string_view open,
                                            std::string_view close) {
  std::vector<std::string> found;
  for (std::size_t at = text.find(open); at != std::string_view::npos; at = text.find(open, at)) {
    at += open.size();
    const std::size_t end = text.find(close, at);
    if (end == std::string_view::npos) break;
    found.emplace_back(text.substr(at, end - at));
  }
  return found;
}

inline std::size_t count_of(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size()))
    ++count;
  return count;
}

/// Programs of `folder` alone are found while this lives.
class OnlyPath {
 public:
  explicit OnlyPath(const std::filesystem::path& folder) : before_(std::getenv("PATH")) {
    setenv("PATH", folder.c_str(), 1);
  }
  ~OnlyPath() { setenv("PATH", before_.c_str(), 1); }
  OnlyPath(const OnlyPath&) = delete;
  OnlyPath& operator=(const OnlyPath&) = delete;

 private:
  std::string before_;
};

/// A script for sh that is found as gnuplot.
inline void put_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  const std::filesystem::path file = folder / "gnuplot";
  std::ofstream(file) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

inline bool have_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

}  // namespace parity::test
