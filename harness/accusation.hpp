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
#include "harness/confirmation.hpp"
#include "harness/evidence.hpp"
#include "harness/finding.hpp"
#include "harness/investigate.hpp"
#include "harness/shrink.hpp"
#include "harness/suspicion.hpp"
#include "harness/trials.hpp"

namespace parity {

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
  struct Shrunk {
    ShrinkResult result;
    Rate full;  ///< trials of the whole observed history
  };
  Shrunk shrink_history(const Suspicion& suspicion);
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
