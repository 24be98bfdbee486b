// Small members of what a worker saw.
#include "harness/outcome.hpp"

#include <algorithm>

namespace parity {

bool ends_process(const Outcome& outcome) {
  return outcome.status == Status::crashed || outcome.status == Status::timed_out;
}

Sequence Sequence::of(std::span<const std::size_t> order, unsigned poison_phase,
                      std::size_t threads) {
  Sequence sequence;
  sequence.poison_phase = poison_phase;
  sequence.threads = threads;
  for (const std::size_t index : order) sequence.steps.push_back(Step::run(index));
  return sequence;
}

std::vector<StepGroup> Sequence::groups() const {
  const auto runs = [this](std::size_t i) {
    return i < steps.size() && steps[i].kind == Step::Kind::run;
  };
  const std::size_t most = std::max<std::size_t>(threads, 1);
  std::vector<StepGroup> groups;
  for (std::size_t begin = 0; begin < steps.size();) {
    std::size_t stretch = 1;
    while (runs(begin) && runs(begin + stretch)) ++stretch;
    const std::size_t first = stretch % most == 0 ? most : stretch % most;
    groups.push_back({begin, begin + first});
    begin += first;
  }
  return groups;
}

std::vector<std::size_t> Sequence::company() const {
  const StepGroup group = groups().back();
  std::vector<std::size_t> company;
  for (std::size_t i = group.begin; i + 1 < group.end; ++i)
    if (steps[i].case_index != steps.back().case_index) company.push_back(steps[i].case_index);
  std::ranges::sort(company);
  company.erase(std::ranges::unique(company).begin(), company.end());
  return company;
}

std::vector<std::size_t> Sequence::last_copies() const {
  const StepGroup group = groups().back();
  std::vector<std::size_t> copies = {group.end - 1};
  for (std::size_t i = group.begin; i + 1 < group.end; ++i)
    if (steps[i].case_index == steps.back().case_index) copies.push_back(i);
  return copies;
}

std::size_t SequenceResult::completed() const {
  const auto stop = std::find_if(outcomes.begin(), outcomes.end(), [](const Outcome& outcome) {
    return outcome.status == Status::not_run;
  });
  return static_cast<std::size_t>(stop - outcomes.begin());
}

bool SequenceResult::whole() const {
  const std::size_t steps = completed();
  if (steps == outcomes.size()) return true;
  return steps > 0 && ends_process(outcomes[steps - 1]);
}

}  // namespace parity
