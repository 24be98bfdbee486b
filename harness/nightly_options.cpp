#include "harness/nightly_options.hpp"

#include <CLI/CLI.hpp>

#include "harness/night_steps.hpp"

namespace parity {

void add_nightly(CLI::App& nightly, NightlyOptions& options) {
  const CLI::Validator not_empty(
      [](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "");
  nightly
      .add_option("--out", options.out,
                  "A new folder: what each step said, its JSON, and the reports of all")
      ->check(not_empty);
  nightly.add_option("--golden", options.golden, "Golden data to verify")
      ->check(not_empty)
      ->capture_default_str();
  nightly.add_option("--only", options.only, "Steps to run: " + night_step_files())
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(not_empty);
  nightly
      .add_option("--bench", options.bench,
                  "Google Benchmark's JSON (parity_bench --benchmark_out) for the page; repeatable")
      ->allow_extra_args(false)
      ->check(not_empty);
}

}  // namespace parity
