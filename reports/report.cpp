// Puts a report where it was asked for, whole or not at all.
#include "reports/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "datasets/errors.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw DatasetError(fmt::format(
      "the report cannot be written to {}: {}; name a file in a folder that can be written",
      path.string(), reason));
}

void write_to(const fs::path& file, const ReportWriter& writer, const RunReport& report,
              const fs::path& asked) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  if (!out) refuse(asked, std::strerror(errno));
  writer.write(report, out);
  out.close();
  if (!out) refuse(asked, errno != 0 ? std::strerror(errno) : "the write failed");
}

/// Devices, pipes and links are written through: a rename would replace them by a file.
bool written_in_place(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

}  // namespace

void write_report(const ReportWriter& writer, const RunReport& report, const fs::path& path) {
  if (path.empty()) refuse("\"\"", "the name is empty");
  if (std::error_code ignored; fs::is_directory(path, ignored)) refuse(path, "it is a folder");
  if (written_in_place(path)) return write_to(path, writer, report, path);

  const fs::path temporary = fmt::format("{}.tmp.{}", path.string(), ::getpid());
  try {
    write_to(temporary, writer, report, path);
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) refuse(path, error.message());
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

}  // namespace parity
