// A group of one is a plain request; a larger one is asked for together.
#include "harness/group_request.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/protocol.hpp"

namespace parity {
namespace {

/// Each run of a group could have taken the whole limit by itself, and fewer processors than runs
/// do them one after the other.
std::chrono::milliseconds limit_of(const Sequence& sequence, const StepGroup& group,
                                   const GroupLimits& limits) {
  return limits.run * (sequence.patience * group.size());
}

Outcome request_step(WorkerProcess& worker, const Sequence& sequence, const StepGroup& group,
                     const std::vector<std::string>& ids, const GroupLimits& limits,
                     SequenceResult& result) {
  const std::size_t position = group.begin;
  const Step& step = sequence.steps[position];
  const auto poison = static_cast<unsigned>((position + sequence.poison_phase) % 2);
  const bool runs = step.kind == Step::Kind::run;
  const std::chrono::milliseconds limit = runs ? limit_of(sequence, group, limits) : limits.step;
  std::string line;
  if (runs) line = run_request(ids.at(step.case_index), poison);
  if (step.kind == Step::Kind::restore) line = restore_request(step.carrier);
  if (step.kind == Step::Kind::set) line = set_request(step.carrier, step.state);
  if (step.kind == Step::Kind::snapshot) line = snapshot_request(step.carrier);
  const Reply reply = worker.request(line, limit);
  if (reply.kind != Reply::Kind::answered) return unanswered(reply, limit);
  if (runs) return parse_run_reply(reply.line);
  if (step.kind != Step::Kind::snapshot) return parse_done_reply(reply.line);
  SnapshotReply snapshot = parse_snapshot_reply(reply.line);
  result.snapshots.push_back({step.carrier, std::move(snapshot.state)});
  return snapshot.outcome;
}

void request_together(WorkerProcess& worker, const Sequence& sequence, const StepGroup& group,
                      const std::vector<std::string>& ids, const GroupLimits& limits,
                      SequenceResult& result) {
  std::vector<RunRequest> runs;
  for (std::size_t i = group.begin; i < group.end; ++i)
    runs.push_back({ids.at(sequence.steps[i].case_index),
                    static_cast<unsigned>((i + sequence.poison_phase) % 2)});
  const std::chrono::milliseconds limit = limit_of(sequence, group, limits);
  const Reply reply = worker.request(together_request(runs), limit);
  std::vector<Outcome> outcomes =
      reply.kind == Reply::Kind::answered
          ? parse_together_reply(reply.line, group.size())
          : std::vector<Outcome>(group.size(), unanswered(reply, limit));
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (ends_process(outcomes[i]))
      outcomes[i].detail =
          fmt::format("while {} ran at the same time: {}", group.size(), outcomes[i].detail);
    result.outcomes[group.begin + i] = std::move(outcomes[i]);
  }
}

}  // namespace

Outcome unanswered(const Reply& reply, std::chrono::milliseconds limit) {
  Outcome outcome;
  if (reply.kind == Reply::Kind::stopped) {
    outcome.detail = "interrupted";
    return outcome;
  }
  const bool late = reply.kind == Reply::Kind::timed_out;
  outcome.status = late ? Status::timed_out : Status::crashed;
  outcome.detail = late ? fmt::format("no answer within {} ms", limit.count()) : reply.detail;
  return outcome;
}

void request_group(WorkerProcess& worker, const Sequence& sequence, const StepGroup& group,
                   const std::vector<std::string>& ids, const GroupLimits& limits,
                   SequenceResult& result) {
  if (group.size() > 1) return request_together(worker, sequence, group, ids, limits, result);
  result.outcomes[group.begin] = request_step(worker, sequence, group, ids, limits, result);
}

}  // namespace parity
