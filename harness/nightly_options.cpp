#include "harness/nightly_options.hpp"

#include <CLI/CLI.hpp>

#include "harness/night_steps.hpp"
#include "harness/options.hpp"
#include "harness/shared_options.hpp"

namespace parity {

void add_nightly(CLI::App& nightly, Options& options, std::string& budget) {
  nightly
      .add_option("--out", options.nightly.out,
                  "A new folder: what each step said, its JSON, and the reports of all")
      ->check(not_empty());
  nightly.add_option("--golden", options.nightly.golden, "Golden data to verify")
      ->check(not_empty())
      ->capture_default_str();
  nightly.add_option("--only", options.nightly.only, "Steps to run: " + night_step_files())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty());
  nightly
      .add_option("--bench", options.nightly.bench,
                  "Google Benchmark's JSON (parity_bench --benchmark_out) for the page; repeatable")
      ->allow_extra_args(false)
      ->check(not_empty());
  nightly
      .add_option("--commit", options.commit, "Commit of the source tree, as the reports name it")
      ->check(not_empty());
  nightly
      .add_option("--resume", options.resume,
                  "Go on in the folder of a night that was cut off; takes its options from there")
      ->check(not_empty());
  nightly.add_option("--budget", budget, "Stop after this long and report what ran: 90s, 10m, 2h")
      ->check(not_empty());
  add_backend(nightly, options);
  add_jobs(nightly, options);
  add_filter(nightly, options);
  add_plants(nightly, options);
}

}  // namespace parity
