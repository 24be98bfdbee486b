#include "harness/night_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datasets/errors.hpp"

namespace parity {
namespace {

using Words = std::vector<std::string>;

Words& add(Words& words, std::string option, std::string value) {
  words.push_back(std::move(option));
  words.push_back(std::move(value));
  return words;
}

/// Audit and runs have the plants that were asked for; selftest runs every one by itself.
Words with_plants(Words words, const Options& options) {
  for (const std::string& plant : options.plants) add(words, "--plant", plant);
  return words;
}

Words with_backend(Words words, const Options& options) {
  if (options.backend != "auto") add(words, "--backend", options.backend);
  return words;
}

Words run_words(Words words, const Options& options) {
  words = with_plants(with_backend(std::move(words), options), options);
  for (const std::string& pattern : options.filters) add(words, "--filter", pattern);
  if (options.jobs > 0) add(words, "--jobs", fmt::to_string(options.jobs));
  return words;
}

std::vector<NightStep> all_steps(const Options& options) {
  return {
      {.name = "audit", .file = "audit", .words = with_plants({"audit"}, options)},
      {.name = "suite full",
       .file = "full",
       .words = run_words({"run", "--suite", "full"}, options),
       .writes_json = true,
       .suite = Suite::full,
       .verdict_first = true},
      {.name = "permuted smoke",
       .file = "smoke",
       .words = run_words({"run", "--permute-order"}, options),
       .writes_json = true,
       .suite = Suite::smoke,
       .verdict_first = true},
      {.name = "golden verify",
       .file = "golden",
       .words = {"golden", "verify", options.nightly.golden.string()},
       .reads = options.nightly.golden},
      {.name = "selftest",
       .file = "selftest",
       .words = with_backend({"selftest"}, options),
       .writes_json = true},
  };
}

}  // namespace

bool has_verdict(int exit_code) {
  return exit_code == 0 || exit_code == 1 || exit_code == 3 || exit_code == 4;
}

std::string night_step_files() {
  Words files;
  for (const NightStep& step : all_steps({})) files.push_back(step.file);
  return fmt::format("{}", fmt::join(files, ", "));
}

std::vector<NightStep> night_steps(const Options& options) {
  std::vector<NightStep> steps = all_steps(options);
  const Words& only = options.nightly.only;
  for (const std::string& word : only)
    if (std::ranges::find(steps, word, &NightStep::file) == steps.end())
      throw UsageError(
          fmt::format("--only {}: no step has that name; they are {}", word, night_step_files()));
  if (!only.empty())
    std::erase_if(steps, [&](const NightStep& step) {
      return std::ranges::find(only, step.file) == only.end();
    });
  return steps;
}

}  // namespace parity
