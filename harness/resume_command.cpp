// harness --resume: the options of a run that was cut off, and that run gone on with.
#include <fmt/format.h>

#include <filesystem>

#include "datasets/errors.hpp"
#include "harness/commands.hpp"
#include "harness/journal.hpp"
#include "harness/paths.hpp"
#include "harness/run_folder.hpp"
#include "harness/shell_words.hpp"

namespace parity {
namespace {

JournalState sound_state(const std::filesystem::path& folder, const std::string& run) {
  const std::optional<JournalState> state = read_journal_state(folder / "journal");
  if (!state)
    throw UsageError(fmt::format(
        "--resume {}: its journal is damaged from its first line on; start it anew", run));
  if (state->head.build != build_id())
    throw UsageError(
        fmt::format("--resume {}: another build of harness began it; start it anew: {}", run,
                    shell_quoted(state->head.arguments)));
  return *state;
}

/// The run's own options; beside them, `asked` may say where to write and how fast and long to run.
Options options_of(const JournalHead& head, const Options& asked) {
  std::optional<Options> options = parse_options(head.arguments);
  if (!options || !options->resume.empty())
    throw UsageError(
        fmt::format("--resume {}: its journal names no run; start it anew", asked.resume));
  if (asked.budget && options->command == Command::replay)
    throw UsageError("--budget: a replay has none");
  if (!asked.json.empty()) options->json = std::filesystem::absolute(asked.json);
  if (asked.jobs > 0) options->jobs = asked.jobs;
  options->more_budget = asked.budget.has_value();
  if (asked.budget) options->budget = asked.budget;
  return *options;
}

}  // namespace

int resume_command(const Options& asked) {
  const std::filesystem::path folder = find_run(paths().runs, asked.resume);
  const JournalState state = sound_state(folder, asked.resume);
  Options options = options_of(state.head, asked);
  options.run_folder = folder;
  go_where_it_began(state.head, asked.resume);
  return options.command == Command::replay ? replay_command(options) : run_command(options);
}

}  // namespace parity
