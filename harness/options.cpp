#include "harness/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <iostream>

#include "datasets/errors.hpp"
#include "harness/duration.hpp"
#include "harness/golden_options.hpp"
#include "harness/report_options.hpp"
#include "harness/shared_options.hpp"
#include "harness/shell_words.hpp"

namespace parity {
namespace {

/// What CLI11 fills in before it is checked and typed.
struct RawOptions {
  bool permute_order = false;
  bool permute_dtype = false;
  std::string orders = "tuscan";
  std::string budget;
  std::string suite = "smoke";
  std::string deadline;
  std::string seed = "0";
  std::string cache_action = "info";
  GoldenArguments golden;
};

void add_suite_and_filter(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--suite", raw.suite, "Cases to choose from: smoke or full")
      ->capture_default_str();
  add_filter(app, options);
}

/// What `run` and `replay` share: everything about workers and the report.
void add_execution(CLI::App& app, Options& options, RawOptions& raw) {
  add_backend(app, options);
  add_jobs(app, options);
  app.add_option(
         "--threads", options.threads,
         "Cases of a sequence that run at the same time, each from a host thread of its own")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--deadline", raw.deadline,
                 "Limit of one run: seconds, or 500ms, 5s, 1m (else 5s, of --suite full 60s)")
      ->check(not_empty());
  app.add_option("--worker", options.worker, "Worker command line instead of the built-in one")
      ->check(not_empty());
  add_plants(app, options);
  app.add_option(
         "--noisy", options.noisy,
         "Glob of cases whose bits may vary from run to run: they are held to the reference "
         "alone; repeatable")
      ->allow_extra_args(false)
      ->check(not_empty());
  app.add_option("--autotune", options.autotune,
                 "Clock of cases that tune: recorded (the same plan every time) or measure")
      ->check(CLI::IsMember({"recorded", "measure"}))
      ->capture_default_str();
  app.add_option("--autotune-file", options.autotune_file,
                 "With --autotune measure: takes plans from here and keeps new ones here")
      ->check(not_empty());
  app.add_option("--json", options.json, "Also write the report here (schema parity.run/1)")
      ->check(not_empty());
}

void add_selftest(CLI::App& app, Options& options) {
  add_backend(app, options);
  add_plants(app, options);
  app.add_option("--json", options.json, "Also write the table here (schema parity.selftest/1)")
      ->check(not_empty());
}

void add_run(CLI::App& app, Options& options, RawOptions& raw) {
  auto* order =
      app.add_flag("--permute-order", raw.permute_order, "Every selected case in permuted orders");
  app.add_flag("--permute-dtype", raw.permute_dtype,
               "Permuted orders within each group of cases that differ only in dtypes")
      ->excludes(order);
  app.add_option("--orders", raw.orders, "tuscan (every ordered pair adjacent) or random:N")
      ->capture_default_str();
  app.add_option("--seed", raw.seed, "Seed of random orders")->capture_default_str();
  app.add_option("--budget", raw.budget, "Stop starting orders after this long: 90s, 10m, 2h")
      ->check(not_empty());
  app.add_option("--resume", options.resume,
                 "Go on with a run that was cut off: its name or path, or last; takes its options "
                 "from there")
      ->check(not_empty());
  add_suite_and_filter(app, options, raw);
  add_execution(app, options, raw);
}

void add_audit(CLI::App& app, Options& options, RawOptions& raw) {
  add_plants(app, options);
  auto* compile =
      app.add_option("--compile", options.compile,
                     "Instead of keys: registers, shared and local memory on these GPUs (none "
                     "needed): sm_80,sm_90a")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->check(not_empty());
  app.add_option("--filter", options.filters,
                 "Only modules of the smoke cases that match, and the sample")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->needs(compile);
  app.add_option("--sample", options.sample, "Modules beyond those of smoke cases")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str()
      ->needs(compile);
  app.add_option("--seed", raw.seed, "Seed of the sample")->capture_default_str()->needs(compile);
}

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size())
    throw UsageError(fmt::format("--seed '{}' is no number from 0 to 2^64-1", text));
  return seed;
}

/// Half of a pair, mistyped, would go unnoticed.
void check_plants_differ(const std::vector<std::string>& plants) {
  for (auto name = plants.begin(); name != plants.end(); ++name)
    if (std::find(plants.begin(), name, *name) != name)
      throw UsageError(fmt::format("--plant {} is given twice; name each plant once", *name));
}

void finish(Options& options, const RawOptions& raw) {
  check_plants_differ(options.plants);
  options.permute = raw.permute_order   ? Permute::order
                    : raw.permute_dtype ? Permute::dtype
                                        : Permute::none;
  options.orders = parse_orders(raw.orders);
  if (!options.orders.tuscan && options.permute == Permute::none)
    throw UsageError("--orders needs --permute-order or --permute-dtype");
  if (!options.autotune_file.empty() && options.autotune != "measure")
    throw UsageError("--autotune-file needs --autotune measure: recorded plans depend on no file");
  if (!raw.budget.empty()) options.budget = parse_duration(raw.budget);
  options.suite = parse_suite(raw.suite);
  options.seed = parse_seed(raw.seed);
  finish_golden(options, raw.suite, raw.golden);
  options.cache = raw.cache_action == "verify"  ? CacheAction::verify
                  : raw.cache_action == "clear" ? CacheAction::clear
                                                : CacheAction::info;
  if (raw.deadline.empty()) {
    // Full holds real models' contexts, which the host backend and whoever generates them need time
    // for.
    if (options.suite == Suite::full) options.deadline = std::chrono::seconds(60);
    return;
  }
  const bool bare_number = raw.deadline.find_first_not_of("0123456789") == std::string::npos;
  options.deadline = parse_duration(bare_number ? raw.deadline + "s" : raw.deadline);
}

std::size_t count_of_options(const CLI::App& app) {
  std::size_t count = 0;
  for (const CLI::Option* option : app.get_options()) count += option->count();
  return count;
}

/// A run that is gone on with has its options; these may differ each time.
void check_beside_resume(const CLI::App& app) {
  constexpr std::array<std::string_view, 6> kFree = {"--resume", "--json",   "--jobs",
                                                     "--budget", "--commit", "--bench"};
  for (const CLI::Option* option : app.get_options())
    if (option->count() > 0 && std::ranges::find(kFree, option->get_name()) == kFree.end())
      throw UsageError(
          fmt::format("--resume takes the run's own options: leave out {}", option->get_name()));
}

}  // namespace

std::string Options::suffix() const {
  std::string text;
  for (const std::string& plant : plants) text += " --plant " + plant;
  for (const std::string& pattern : noisy) text += " --noisy " + shell_quoted(pattern);
  if (backend != "auto") text += " --backend " + backend;
  if (threads != 1) text += fmt::format(" --threads {}", threads);
  if (deadline != Options{}.deadline) text += fmt::format(" --deadline {}ms", deadline.count());
  if (!worker.empty()) text += " --worker " + shell_quoted(worker);
  if (autotune != Options{}.autotune) text += " --autotune " + autotune;
  if (!autotune_file.empty()) text += " --autotune-file " + shell_quoted(autotune_file.string());
  return text;
}

std::optional<Options> parse_options(const std::vector<std::string>& words) {
  std::vector<const char*> typed;
  for (const std::string& word : words) typed.push_back(word.c_str());
  return parse_options(static_cast<int>(typed.size()), typed.data());
}

std::optional<Options> parse_options(int argc, const char* const* argv) {
  Options options;
  RawOptions raw;
  CLI::App app(
      "Differential parity harness for GPU kernels: finds state that leaks from one case into "
      "another, shrinks the order, names the state.",
      "harness");
  app.set_version_flag("--version", std::string("harness ") + PARITY_VERSION);
  app.footer(
      "Exit codes: 0 all passed, 1 fails alone, 2 usage, 3 order-dependent, 4 unstable, 5 "
      "infrastructure.");
  app.require_subcommand(0, 1);
  add_run(app, options, raw);

  CLI::App* run = app.add_subcommand("run", "Every selected case (the default command)");
  add_run(*run, options, raw);
  CLI::App* list = app.add_subcommand("list", "Ids of the selected cases, one a line");
  add_suite_and_filter(*list, options, raw);
  list->add_flag("--cost", options.cost, "Also each case's cost: bytes of its inputs and outputs");
  CLI::App* show =
      app.add_subcommand("show", "One case: shapes, seed, tolerance, module keys, sources");
  show->add_option("case", options.cases, "Id of the case")->required()->expected(1);
  add_backend(*show, options);
  CLI::App* replay = app.add_subcommand(
      "replay", "A sequence and its last case alone, in fresh processes; says both counts");
  replay->add_option("case", options.cases, "Ids, in order")->required();
  replay->add_option("--repeat", options.repeat, "Fresh processes for each, at least")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  add_execution(*replay, options, raw);
  CLI::App* selftest = app.add_subcommand(
      "selftest", "Runs every plant and both clean controls: would the harness have noticed?");
  add_selftest(*selftest, options);
  CLI::App* audit = app.add_subcommand(
      "audit", "Every module that launch functions can ask for: has it a key of its own?");
  add_audit(*audit, options, raw);
  CLI::App* cache = app.add_subcommand("cache", "Compiled modules, packs and runs on disk");
  cache
      ->add_option("action", raw.cache_action,
                   "info, verify (reads every checksum) or clear (removes all that nobody needs)")
      ->required()
      ->check(CLI::IsMember({"info", "verify", "clear"}));
  CLI::App* golden =
      app.add_subcommand("golden", "Golden data: what every case is given and what it must answer");
  add_golden(*golden, options, raw.golden, raw.seed,
             [&](CLI::App& one) { add_suite_and_filter(one, options, raw); });
  CLI::App* nightly = app.add_subcommand(
      "nightly",
      "Audit, suite full, permuted smoke, golden verify and selftest, then reports of all");
  add_nightly(*nightly, options, raw.budget);
  CLI::App* report = app.add_subcommand(
      "report", "Reports of runs, selftests, nights and benches, joined and written as pages");
  add_report(*report, options);
  CLI::App* worker = app.add_subcommand("worker", "The built-in worker (see harness/PROTOCOL.md)");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    app.exit(done);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string(error.what()) + " (see harness --help)");
  }
  if (app.get_subcommands().size() == 1 && count_of_options(app) > 0)
    throw UsageError(fmt::format("options stand behind the command: harness {} OPTIONS",
                                 app.get_subcommands().front()->get_name()));
  options.command = *list       ? Command::list
                    : *show     ? Command::show
                    : *replay   ? Command::replay
                    : *selftest ? Command::selftest
                    : *audit    ? Command::audit
                    : *cache    ? Command::cache
                    : *golden   ? Command::golden
                    : *nightly  ? Command::nightly
                    : *report   ? Command::report
                    : *worker   ? Command::worker
                                : Command::run;
  options.program = shell_quoted(argv[0]);
  options.arguments.assign(argv, argv + argc);
  if (!options.resume.empty()) check_beside_resume(*run ? *run : *nightly ? *nightly : app);
  finish(options, raw);
  return options;
}

}  // namespace parity
