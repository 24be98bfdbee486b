// Puts a report where it was asked for, whole or not at all.
#include "reports/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <system_error>

#include "datasets/errors.hpp"
#include "datasets/replaced_file.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw DatasetError(fmt::format(
      "the report cannot be written to {}: {}; name a file in a folder that can be written",
      path.string(), reason));
}

void write_in_place(const fs::path& path, const std::string& text) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) refuse(path, std::strerror(errno));
  out << text;
  out.close();
  if (!out) refuse(path, errno != 0 ? std::strerror(errno) : "the write failed");
}

/// Devices, pipes and links are written through: a rename would replace them by a file.
bool written_in_place(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

JoinedRuns alone(const RunReport& report) {
  JoinedRuns joined;
  joined.runs.push_back({"", report});
  return joined;
}

}  // namespace

void ReportWriter::write(const RunReport& report, std::ostream& out) const {
  write(alone(report), out);
}

void write_report(const ReportWriter& writer, const RunReport& report, const fs::path& path) {
  write_report(writer, alone(report), path);
}

void write_report(const ReportWriter& writer, const JoinedRuns& joined, const fs::path& path) {
  std::ostringstream text;
  writer.write(joined, text);
  write_report(text.str(), path);
}

void write_report(const std::string& text, const fs::path& path) {
  if (path.empty()) refuse("\"\"", "the name is empty");
  if (std::error_code ignored; fs::is_directory(path, ignored)) refuse(path, "it is a folder");
  if (written_in_place(path)) return write_in_place(path, text);
  try {
    ReplacedFile file(path, 0666);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  } catch (const std::system_error& error) {
    refuse(path, error.code().message());
  }
}

}  // namespace parity
