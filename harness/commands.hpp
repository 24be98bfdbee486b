// The verbs of the command line. Each returns the process's exit code and throws on broken
// environments.
#pragma once

#include "harness/options.hpp"

namespace parity {

int run_command(const Options& options);
int list_command(const Options& options);
int show_command(const Options& options);
int replay_command(const Options& options);
int selftest_command(const Options& options);
int resume_command(const Options& options);
int audit_command(const Options& options);
int cache_command(const Options& options);
int golden_command(const Options& options);
int nightly_command(const Options& options);
int report_command(const Options& options);

}  // namespace parity
