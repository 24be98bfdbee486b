// What a person reads: findings and the report of a run. Plain values; reports/ only formats them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge.hpp"
#include "harness/ledger.hpp"

namespace parity {

/// On what the symptom depends. order_dependent: the victim is well alone (or, a brittle case, ill
/// only alone). unstable: it varies with neither order nor input. unconfirmed: seen, and the run
/// was stopped before it was known on what it depends. The others happen alone.
enum class Kind : std::uint8_t {
  order_dependent,
  unstable,
  mismatch,
  hygiene,
  crash,
  timeout,
  error,
  unconfirmed
};
enum class Role : std::uint8_t { victim, brittle };
enum class Grade : std::uint8_t { confirmed, necessary, correlated, unnamed };

std::string_view name(Kind kind);
std::string_view name(Role role);
std::string_view name(Grade grade);

/// The word for a symptom that happens alone.
Kind kind_alone(Fingerprint fingerprint);

/// k of n.
struct Rate {
  std::size_t hits = 0;
  std::size_t runs = 0;
  bool operator==(const Rate&) const = default;
};

struct Finding {
  Kind kind = Kind::mismatch;
  Fingerprint fingerprint = Fingerprint::none;
  std::string victim;
  Role role = Role::victim;
  std::vector<std::string>
      also;  ///< other victims of the same cell (or, unnamed, the same polluter)
  std::vector<std::string> sequence;  ///< shortest that shows it, the victim last
  /// Host threads: cases of the sequence ran at the same time in groups of this many from its end.
  std::size_t threads = 1;
  std::string carrier;  ///< empty when unnamed
  std::string cell;
  std::string built_for;
  std::string used_for;
  Grade grade = Grade::unnamed;
  std::string replay;    ///< "harness replay A B --repeat 20"
  std::string contrast;  ///< "harness replay B"; empty where there is none
  Rate reproduced;       ///< of the sequence, in fresh processes
  Rate alone;            ///< bad results of the victim alone
  double error = 0;      ///< of the victim in the sequence
  double tolerance = 0;
  std::string detail;  ///< first differing element
  /// Public launch functions (a foreign worker's kernels) with dtype tuples that share the cell.
  std::vector<std::string> exposed;
  std::vector<std::string> not_probed;  ///< carriers nobody looked at
};

struct CaseSummary {
  std::string id;
  Verdict verdict = Verdict::not_run;
  double error = 0;
  double tolerance = 0;
  std::size_t runs = 0;
  std::size_t distinct_bits = 0;
  std::string detail;
  std::vector<OutputError> outputs = {};  ///< the worst of each over all runs
};

struct Coverage {
  std::size_t orders = 0;
  std::size_t executions = 0;
  std::size_t process_starts = 0;
  PairCount adjacent;
  PairCount ordered;
  PairCount together = {};  ///< pairs that ran at the same time
};

struct RunReport {
  std::string backend;
  std::string device_name;
  std::string device_arch;
  std::string device_driver;
  std::uint64_t seed = 0;
  std::string suite;
  std::size_t threads = 1;  ///< host threads of a worker
  std::vector<std::string> plants;
  std::vector<std::string> noisy = {};  ///< cases whose bits may vary: a person permits it
  std::vector<CaseSummary> cases;
  Coverage coverage;
  std::vector<Finding> findings;
  std::vector<std::string> not_probed;
  std::vector<std::string> quarantined;  ///< crash or time out alone: their other pairs did not run
  bool interrupted = false;              ///< stopped before the plan's end
  std::string build = {};                ///< digest of the program; empty: not told
  std::string resume = {};               ///< the command that goes on; empty: nothing is left
  std::string worker_error;              ///< Supervisor::bad_end()
  int exit_code = 0;
};

/// 0 all passed · 1 happens alone · 3 order-dependent · 4 unstable or unconfirmed · 5 a worker
/// error; the most serious of 5, 3, 1, 4 wins. A run that was interrupted is 5 where nothing was
/// found, and 4 where all that was found is not yet confirmed. Any case that is not passed or
/// unsupported gives at least 1; no executed case gives 2.
int exit_code(const RunReport& report);

}  // namespace parity
