// What harness selftest found out about the harness. Plain values; reports/ only formats them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace parity {

/// One run of a plant's cases, or of a clean control's, in which nothing may be accused.
struct SelftestRow {
  std::string leak_class;  ///< "first-wins"; of a control "clean"
  std::string name;
  bool control = false;
  bool applicable = true;  ///< false: not on this backend, nothing was run
  bool found = false;      ///< of a control: nothing was accused
  bool exact = false;      ///< every sequence is the shortest there is
  bool carrier_right = false;
  std::string carrier;         ///< of the first finding; empty: unnamed
  std::string grade;           ///< of the first finding
  std::string rate;            ///< "18 of 20", where it shows by chance; else empty
  std::size_t executions = 0;  ///< of the plan and of the investigation
  std::size_t process_starts = 0;
  double seconds = 0;   ///< for the eye only
  std::string missing;  ///< one line: what is not as it must be; empty: all is
  /// RunReport::worker_error: of neither case nor harness, and nobody is accused by it.
  std::string worker_error = {};
  std::string command;  ///< runs the row by itself
};

struct SelftestReport {
  std::string backend;
  std::string device_name;
  std::vector<SelftestRow> rows;
  bool interrupted = false;

  std::size_t plants() const;  ///< that could show themselves here
  std::size_t plants_found() const;
  /// Found, with the exact sequence, the right carrier and the expected grade.
  std::size_t plants_named() const;
  std::size_t false_accusations() const;  ///< controls in which something was accused
};

/// 0 every plant found and named, every control clean · 1 a plant was missed or named wrongly, or a
/// control did not pass · 3 a control was accused · 5 interrupted, or a worker error. The most
/// serious of 5, 3, 1 wins.
int exit_code(const SelftestReport& report);

}  // namespace parity
