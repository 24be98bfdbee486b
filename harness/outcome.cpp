// Small members of what a worker saw.
#include "harness/outcome.hpp"

#include <algorithm>

namespace parity {

Sequence Sequence::of(std::span<const std::size_t> order, unsigned poison_phase) {
  Sequence sequence;
  sequence.poison_phase = poison_phase;
  for (const std::size_t index : order) sequence.steps.push_back(Step::run(index));
  return sequence;
}

std::size_t SequenceResult::completed() const {
  const auto stop = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.status == Status::not_run;
  });
  return static_cast<std::size_t>(stop - outcomes.begin());
}

}  // namespace parity
