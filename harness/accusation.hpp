// From a suspicion to a finding: shrink, confirm in fresh processes, tell order from chance, name
// the leaked state.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/alone.hpp"
#include "harness/case.hpp"
#include "harness/evidence.hpp"
#include "harness/finding.hpp"
#include "harness/investigate.hpp"
#include "harness/shrink.hpp"
#include "harness/trials.hpp"

namespace parity {

/// A case that went another way in an order than alone. role victim: `fingerprint` is what it
/// showed there; brittle: what it shows alone, and it was well there.
struct Suspicion {
  std::size_t victim = 0;
  Role role = Role::victim;
  Fingerprint fingerprint = Fingerprint::none;
  Sighting sighting;
  std::vector<std::size_t> suspects;     ///< single polluters (state-setters) to try first
  std::vector<std::size_t> common = {};  ///< ran before every run that went this way, of several
  double rate = 1;  ///< share of these runs among those that all of `common` ran before
};

/// fails: the case went the suspected way; passes: as alone.
Trial read(const Suspicion& suspicion, const Symptom& symptom);

/// A finding with what its place in the report depends on.
struct Accusation {
  Finding finding;
  std::size_t victim = 0;
  Order history;  ///< empty for what happens alone
  std::pair<std::size_t, std::size_t> plan_order;
};

/// By what tells most; independent of the order in which the inquiry came to its findings.
void sort_for_reading(std::vector<Accusation>& accusations, std::span<const Case> cases);

class Accuser {
 public:
  Accuser(std::span<const Case> cases, const Evidence& evidence, Trials& trials,
          const InvestigateOptions& options)
      : cases_(cases), evidence_(evidence), trials_(trials), options_(options) {}

  /// order_dependent, or unstable where the order did not show it again or chance explains it as
  /// well.
  Accusation accuse(const Suspicion& suspicion, const AloneRecord& record);

  /// What happens alone: `record` is bad, by_poison or varies.
  Accusation accuse_alone(std::size_t victim, const AloneRecord& record) const;

 private:
  struct Confirmation {
    Rate reproduced;
    Symptom symptom;  ///< of the first run that reproduced, and its outcome
    Outcome outcome;
  };
  struct Shrunk {
    ShrinkResult result;
    Rate full;  ///< trials of the whole observed history
  };
  Shrunk shrink_history(const Suspicion& suspicion);
  Confirmation confirm(const Suspicion& suspicion, const Order& history);
  /// Where the order showed it sometimes, runs order and victim alone more often and adds to both
  /// rates.
  bool chance_explains(const Suspicion& suspicion, const Order& history, Rate& reproduced,
                       Rate& alone);
  void name_leak(const Suspicion& suspicion, const Order& history, const Confirmation& confirmation,
                 Finding& finding);
  Finding finding_of(const Suspicion& suspicion, const Order& history) const;
  std::string replay(const Order& order) const;
  std::string entry_point(std::size_t case_index) const;
  std::vector<std::string> exposed(const Finding& finding, std::size_t victim) const;
  void report(const std::string& line) const;

  std::span<const Case> cases_;
  const Evidence& evidence_;
  Trials& trials_;
  const InvestigateOptions& options_;
};

}  // namespace parity
