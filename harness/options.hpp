// The command line as values. Parsing refuses; it never guesses.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/case.hpp"
#include "harness/nightly_options.hpp"
#include "harness/orders.hpp"
#include "harness/plan.hpp"

namespace parity {

enum class Command : std::uint8_t {
  run,
  list,
  show,
  replay,
  selftest,
  audit,
  cache,
  golden,
  nightly,
  report,
  worker
};
enum class CacheAction : std::uint8_t { info, verify, clear };
enum class GoldenAction : std::uint8_t { regenerate, verify, diff, info };

struct Options {
  std::string program = "harness";     ///< as it was called: opens the replay commands
  std::vector<std::string> arguments;  ///< as typed, the program first
  std::string resume;  ///< --resume: name or path of a run, or "last"; of nightly its folder
  std::filesystem::path run_folder;  ///< the run that is gone on with; empty: a new one
  Command command = Command::run;
  Permute permute = Permute::none;
  OrdersChoice orders;
  std::uint64_t seed = 0;
  std::optional<std::chrono::milliseconds> budget;
  bool more_budget = false;  ///< --resume was given one
  Suite suite = Suite::smoke;
  std::vector<std::string> filters;
  std::string backend = "auto";
  std::size_t jobs = 0;     ///< 0: one a core on the host backend, two on CUDA
  std::size_t threads = 1;  ///< of a worker: cases that run at the same time
  std::chrono::milliseconds deadline{5000};
  std::string worker;  ///< empty: the built-in one
  std::vector<std::string> plants;
  std::vector<std::string> noisy;       ///< globs: cases whose bits may vary
  std::string autotune = "recorded";    ///< or "measure": timing chooses plans
  std::filesystem::path autotune_file;  ///< plans measured before and now; empty: none
  std::filesystem::path json;
  bool cost = false;                 ///< list
  std::vector<std::string> cases;    ///< show (one), replay (one or more)
  std::size_t repeat = 1;            ///< replay
  std::vector<std::string> compile;  ///< audit: architectures; none: audits the keys
  std::size_t sample = 32;           ///< audit --compile
  CacheAction cache = CacheAction::info;
  GoldenAction golden = GoldenAction::info;
  std::vector<std::filesystem::path> golden_files;  ///< two for diff, else one
  std::optional<std::size_t> golden_sample;         ///< verify: only so many cases
  bool store_inputs = true;                         ///< regenerate: else recipe and digest alone

  NightlyOptions nightly;
  std::vector<std::filesystem::path> report_files;
  std::vector<std::filesystem::path> report_pages;  ///< where to; empty: not asked for
  std::string commit;  ///< report, nightly: of the source tree; empty: not told

  /// The arguments that change what a run does, as they would be typed; the run folder's name and
  /// the replay commands derive from them.
  std::string suffix() const;
};

/// What the program is to do, or nothing where it only had to print (--help, --version; printed
/// already). Throws UsageError in one line for anything malformed.
std::optional<Options> parse_options(int argc, const char* const* argv);
/// The same of words that were typed once, the program first.
std::optional<Options> parse_options(const std::vector<std::string>& words);

}  // namespace parity
