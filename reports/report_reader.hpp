// Files that harness and the benches wrote, read into one JoinedRuns.
#pragma once

#include <filesystem>
#include <string>

#include "reports/joined_runs.hpp"

namespace parity {

/// Adds what the file at `path` holds, which its content tells: parity.run/1, parity.selftest/1,
/// parity.night/1 (steps and commit), or Google Benchmark's JSON (times of kernels). Nothing is
/// computed anew: what the file says, counts. Throws DatasetError in one line for a file that
/// cannot be read or is none of these, whole and to the letter of its schema; UsageError for a
/// file that was read into `joined` before, whatever it is called, and for the night of another
/// commit; `joined` is then as it was.
void read_into(JoinedRuns& joined, const std::filesystem::path& path);

/// Schema parity.night/1: the commit and the steps, nothing else.
std::string night_json(const JoinedRuns& joined);

}  // namespace parity
