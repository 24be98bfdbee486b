// Runs what an investigation asks, each order in a fresh process, and reads the last case of each.
#pragma once

#include <optional>
#include <vector>

#include "harness/judge.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"
#include "harness/symptom.hpp"

namespace parity {

/// The poison of the last case is fixed, so that the length of the history does not change it.
struct TrialOrder {
  Order order;
  unsigned last_poison = 0;
  std::size_t patience = 1;  ///< of its sequence
};

struct TrialRun {
  std::vector<Outcome> outcomes;  ///< one a case of the order
  Symptom symptom;                ///< of the last
  const Outcome& last() const { return outcomes.back(); }
};

class Trials {
 public:
  Trials(std::size_t cases, Judge& judge, Executor& executor)
      : judge_(judge), executor_(executor), alone_(cases) {}

  /// All in one execute(). No order may be empty.
  std::vector<TrialRun> run(const std::vector<TrialOrder>& orders);

  /// Against the outcome alone where that is known.
  Symptom symptom(std::size_t case_index, const Outcome& outcome);
  /// Against another than that; null: against none.
  Symptom symptom(std::size_t case_index, const Outcome& outcome, const Outcome* usual);

  /// Where the outcome's bits first differ from those alone; one line.
  std::string first_difference(std::size_t case_index, const Outcome& outcome) const;

  /// The outcome that later ones are compared with.
  void set_alone(std::size_t case_index, const Outcome& outcome) {
    alone_.at(case_index) = outcome;
  }
  const Outcome* alone(std::size_t case_index) const {
    const std::optional<Outcome>& outcome = alone_.at(case_index);
    return outcome ? &*outcome : nullptr;
  }

  Executor& executor() { return executor_; }

 private:
  Judge& judge_;
  Executor& executor_;
  std::vector<std::optional<Outcome>> alone_;
};

}  // namespace parity
