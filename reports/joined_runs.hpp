// What every writer writes: one run, or several joined with what ran beside them. Plain values.
#pragma once

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/finding.hpp"
#include "harness/selftest.hpp"

namespace parity {

struct ReportedRun {
  std::string source;  ///< name of the file it was read from; empty: of this process
  RunReport report;
};

struct ReportedSelftest {
  std::string source;
  SelftestReport report;
};

/// A command that ran by itself, as `harness nightly` does: audit, run, golden verify, selftest.
struct ReportedStep {
  std::string name;     ///< "golden verify"
  std::string command;  ///< as it can be typed again
  int exit_code = 0;
  std::string said;  ///< the line that sums it up; empty: it said nothing
};

/// One line of Google Benchmark's JSON, of a kernel on a GPU or on the host backend.
struct KernelTime {
  std::string kernel;          ///< "paged_decode_v2"
  std::string dtypes = {};     ///< "q=bf16,k=bf16,v=bf16"; empty: not told
  std::string benchmark = {};  ///< its whole name
  double nanoseconds = 0;      ///< of one launch
  double of_ceiling = 0;  ///< time of reading the same bytes once, as a share of that; 0: unknown
  std::string backend = {};  ///< "cuda"; empty: not told
  std::string device = {};   ///< its name; empty: not told
};

/// "cuda, NVIDIA H200"; empty: not told.
std::string device_text(const KernelTime& time);

struct JoinedRuns {
  std::string commit;  ///< of the source tree; empty: not told
  std::vector<ReportedRun> runs;
  std::vector<ReportedSelftest> selftests;
  std::vector<ReportedStep> steps;
  std::vector<KernelTime> times;
  std::vector<std::filesystem::path> files;  ///< that it was read from, so that none counts twice
};

/// The most serious of 5, 3, 1, 4 among runs, selftests and steps; an exit code that is none of
/// these and not 0 counts as 5. Nothing to judge by gives 2.
int exit_code(const JoinedRuns& joined);

/// "ORDER-DEPENDENT": the word of a page's head, the same in every format. INTERRUPTED only where a
/// run or a selftest says that it was stopped.
std::string_view verdict_word(const JoinedRuns& joined);
/// Of one run by itself.
std::string_view verdict_word(const RunReport& report);

template <typename Holds>
bool any_run(const JoinedRuns& joined, const Holds& holds) {
  return std::ranges::any_of(joined.runs,
                             [&](const ReportedRun& run) { return holds(run.report); });
}

/// Every case passed, some ran more than once, and none has ever shown other bits.
bool same_bits_everywhere(std::span<const ReportedRun> runs);

/// Cases without a verdict of `passed` that no finding speaks of; pointers into `report`.
std::vector<const CaseSummary*> cases_without_finding(const RunReport& report);

}  // namespace parity
