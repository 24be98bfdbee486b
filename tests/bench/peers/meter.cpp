// Counting, and the end of the budget.
#include "tests/bench/peers/detector.hpp"

namespace parity {

std::vector<SequenceResult> Meter::execute(std::span<const Sequence> sequences) {
  std::vector<SequenceResult> results;
  for (const Sequence& sequence : sequences) results.push_back(run(sequence));
  return results;
}

SequenceResult Meter::run(const Sequence& sequence) {
  Order order;
  for (const Step& step : sequence.steps)
    if (step.kind == Step::Kind::run) order.push_back(step.case_index);
  exhausted_ = exhausted_ || spent_.executions + order.size() > budget_;
  if (exhausted_) {
    SequenceResult none;
    none.outcomes.resize(sequence.steps.size());
    return none;
  }
  SequenceResult result = std::move(executor_.execute({&sequence, 1}).front());
  std::vector<bool> ended;
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    if (sequence.steps[i].kind != Step::Kind::run) continue;
    ended.push_back(result.outcomes[i].status != Status::not_run);
    spent_.executions += ended.back() ? 1 : 0;
  }
  ++spent_.starts;
  ledger_.exercise(order, ended);
  return result;
}

}  // namespace parity
