// The tables of a job summary. Part of the Markdown writer's sources; nobody else includes it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/joined_runs.hpp"

namespace parity {

/// Code spans: at most `most` of them, and how many more there are.
std::string markdown_codes(const std::vector<std::string>& words, std::size_t most);

// Each with an empty line behind it, or empty where it would have no row.
std::string markdown_runs(const JoinedRuns& joined);
std::string markdown_steps(const JoinedRuns& joined);
std::string markdown_coverage(const JoinedRuns& joined);
std::string markdown_environment(const JoinedRuns& joined);
std::string markdown_times(const JoinedRuns& joined);

}  // namespace parity
