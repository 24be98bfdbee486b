// harness nightly: a new night, or one that is gone on with.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/commands.hpp"
#include "harness/night_folder.hpp"
#include "harness/night_run.hpp"
#include "harness/night_steps.hpp"
#include "harness/paths.hpp"
#include "harness/plants/plants.hpp"
#include "harness/run_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

/// What would end one of the steps at once, or be noticed only hours later.
void check(const Options& options) {
  for (const std::string& name : options.plants) (void)plant_named(name);
  for (const NightStep& step : night_steps(options)) {
    if (step.suite) (void)select(suite_cases(registry(), *step.suite), options.filters);
    if (std::error_code ignored; !step.reads.empty() && !fs::is_regular_file(step.reads, ignored))
      throw UsageError(
          fmt::format("--golden {}: is not there; name golden data, or write some: harness golden "
                      "regenerate --out FILE",
                      step.reads.string()));
  }
}

/// `words` in which the option has these values alone; without any, those that it had.
std::vector<std::string> with(std::vector<std::string> words, const std::string& option,
                              const std::vector<std::string>& values) {
  if (values.empty()) return words;
  for (auto word = words.begin(); word != words.end();)
    if (*word == option)
      word = words.erase(word, std::min(word + 2, words.end()));
    else if (word->starts_with(option + "="))
      word = words.erase(word);
    else
      ++word;
  for (const std::string& value : values) words.push_back(option + "=" + value);
  return words;
}

int begin(const Options& options) {
  if (options.nightly.out.empty())
    throw UsageError("nightly needs --out DIR, a new folder, or --resume DIR");
  check(options);
  JournalHead head;
  head.arguments = options.arguments;
  head.folder = fs::current_path().string();
  head.build = build_id();
  return run_night(options, NightFolder(options.nightly.out, head));
}

int go_on(const Options& asked) {
  NightFolder folder(asked.resume, build_id());
  std::vector<std::string> bench;
  for (const fs::path& path : asked.nightly.bench) bench.push_back(fs::absolute(path).string());
  std::vector<std::string> words = with(folder.head().arguments, "--bench", bench);
  if (!asked.commit.empty()) words = with(std::move(words), "--commit", {asked.commit});
  std::optional<Options> options = parse_options(words);
  if (!options || options->command != Command::nightly)
    throw UsageError(fmt::format("--resume {}: no night began there", asked.resume));
  options->budget = asked.budget;
  if (asked.jobs > 0) options->jobs = asked.jobs;
  go_where_it_began(folder.head(), asked.resume);
  check(*options);
  folder.keep_arguments(std::move(words));
  return run_night(*options, std::move(folder));
}

}  // namespace

int nightly_command(const Options& options) {
  return options.resume.empty() ? begin(options) : go_on(options);
}

}  // namespace parity
