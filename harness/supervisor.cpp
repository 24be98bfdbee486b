// Fresh worker processes for sequences, several at a time.
#include "harness/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "datasets/errors.hpp"
#include "harness/group_request.hpp"
#include "harness/in_jobs.hpp"
#include "harness/worker_process.hpp"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

/// For exit handlers (a worker's temporary folder, a sanitizer's report).
constexpr std::chrono::milliseconds kFarewell{2000};

}  // namespace

struct Supervisor::Impl {
  SupervisorOptions options;
  std::optional<HelloReply> hello;
  std::atomic<std::size_t> process_starts = 0;
  std::mutex mutex;  ///< guards what follows
  std::size_t logs = 0;
  std::size_t executions = 0;
  std::size_t done = 0;
  std::map<std::size_t, std::string> bad_ends;  ///< by log: the first does not depend on timing
  std::set<std::string> complaints;             ///< of workers that failed in what they do at bye

  bool interrupted() const { return options.interrupted != nullptr && options.interrupted->load(); }

  std::filesystem::path log_of(std::size_t number) const;
  WorkerCommand command(std::size_t log) const;
  Reply greet(WorkerProcess& worker) const;
  std::unique_ptr<WorkerProcess> start(std::size_t log);
  std::optional<std::string> bid_farewell(WorkerProcess& worker, std::size_t log);
  void finish(WorkerProcess& worker, std::size_t log);
  std::size_t take_logs(std::size_t count);
  /// One sequence of an execute().
  struct Task {
    const Sequence& sequence;
    std::size_t log;
    Journal::Place place;  ///< where there is a journal
    bool lost = false;     ///< its outputs, of a run that was in time
  };
  bool may_start(const Task& task) const {
    return !interrupted() && (task.lost || Clock::now() < options.stop_at);
  }
  void run(const Task& task, std::size_t planned, SequenceResult& result);
  bool take_from_journal(Task& task, SequenceResult& result);
  void keep(const Task& task, const SequenceResult& result);
  bool count(const Step& step, const Outcome& outcome);
};

std::filesystem::path Supervisor::Impl::log_of(std::size_t number) const {
  return options.run_folder / fmt::format("worker-{:05}.log", number);
}

std::size_t Supervisor::Impl::take_logs(std::size_t count) {
  std::error_code failed;
  std::filesystem::create_directories(options.run_folder, failed);
  return std::exchange(logs, logs + count);
}

WorkerCommand Supervisor::Impl::command(std::size_t log) const {
  return {.command = options.command, .log = log_of(log), .interrupted = options.interrupted};
}

/// What is wrong with its end, after which nothing asked of it is in doubt.
std::optional<std::string> Supervisor::Impl::bid_farewell(WorkerProcess& worker, std::size_t log) {
  const auto [reply, how] = worker.finish(bye_request(), kFarewell);
  if (const Outcome said = parse_done_reply(reply); said.status == Status::error) {
    const std::lock_guard lock(mutex);
    complaints.insert(said.detail);
  }
  if (!how) return std::nullopt;
  return fmt::format("the worker `{}` ended badly after bye: {}; its log: {}", options.command,
                     *how, log_of(log).string());
}

void Supervisor::Impl::finish(WorkerProcess& worker, std::size_t log) {
  std::optional<std::string> bad_end = bid_farewell(worker, log);
  if (!bad_end) return;
  const std::lock_guard lock(mutex);
  bad_ends.emplace(log, std::move(*bad_end));
}

Reply Supervisor::Impl::greet(WorkerProcess& worker) const {
  return worker.request(hello_request(options.hello), options.prepare_limit);
}

/// A worker that has said hello; null when the run was interrupted meanwhile. One that does not is
/// no case's doing. Where an earlier one was well (two at once may be too much for a device's
/// memory), a second is tried.
std::unique_ptr<WorkerProcess> Supervisor::Impl::start(std::size_t log) {
  std::string complaint;
  for (int attempt = hello.has_value() ? 0 : 1; attempt < 2; ++attempt) {
    auto worker = std::make_unique<WorkerProcess>(command(log));
    const Reply reply = greet(*worker);
    if (reply.kind == Reply::Kind::stopped) return nullptr;
    if (reply.kind != Reply::Kind::answered) {
      complaint =
          fmt::format("the worker `{}` did not answer hello: {}; its log: {}", options.command,
                      unanswered(reply, options.prepare_limit).detail, log_of(log).string());
      continue;
    }
    try {
      parse_hello_reply(reply.line);
      return worker;
    } catch (const DeviceError& refused) {
      complaint = refused.what();
    }
  }
  throw DeviceError(complaint);
}

/// Whether it is a run that came to an outcome.
bool Supervisor::Impl::count(const Step& step, const Outcome& outcome) {
  if (step.kind != Step::Kind::run || outcome.status == Status::not_run) return false;
  if (!ends_process(outcome)) ++executions;
  ++done;
  return true;
}

/// What was stopped on its way is no result.
void Supervisor::Impl::keep(const Task& task, const SequenceResult& result) {
  if (options.journal == nullptr || !result.whole()) return;
  const std::lock_guard lock(mutex);
  const auto bad_end = bad_ends.find(task.log);
  options.journal->append(task.place, {result, bad_end == bad_ends.end() ? "" : bad_end->second});
}

bool Supervisor::Impl::take_from_journal(Task& task, SequenceResult& result) {
  if (options.journal == nullptr) return false;
  std::optional<JournalEntry> entry = options.journal->take(task.place);
  if (!entry || entry->result.outcomes.size() != task.sequence.steps.size()) return false;
  task.lost = options.lost && options.lost(task.sequence, entry->result);
  if (task.lost) return false;
  result = std::move(entry->result);
  ++process_starts;
  if (!entry->bad_end.empty()) bad_ends.emplace(task.log, std::move(entry->bad_end));
  for (std::size_t i = 0; i < result.outcomes.size(); ++i)
    count(task.sequence.steps[i], result.outcomes[i]);
  return true;
}

void Supervisor::Impl::run(const Task& task, std::size_t planned, SequenceResult& result) {
  const Sequence& sequence = task.sequence;
  const std::unique_ptr<WorkerProcess> worker = start(task.log);
  if (worker == nullptr) return;
  ++process_starts;
  for (const StepGroup& group : sequence.groups()) {
    if (interrupted()) break;
    request_group(*worker, sequence, group, options.ids,
                  {.run = options.deadline, .step = options.prepare_limit}, result);
    {
      const std::lock_guard lock(mutex);
      for (std::size_t i = group.begin; i < group.end; ++i)
        if (count(sequence.steps[i], result.outcomes[i]) && options.progress)
          options.progress(done, planned, sequence.steps[i].case_index, result.outcomes[i]);
    }
    if (ends_process(result.outcomes[group.begin])) return;
  }
  finish(*worker, task.log);
}

Supervisor::Supervisor(SupervisorOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}

Supervisor::~Supervisor() = default;

const HelloReply& Supervisor::identity() {
  if (!impl_->hello) {
    const std::size_t log = impl_->take_logs(1);
    WorkerProcess worker(impl_->command(log));
    const Reply reply = impl_->greet(worker);
    if (reply.kind != Reply::Kind::answered) {
      throw DeviceError(fmt::format(
          "the worker `{}` did not answer hello: {}; try the command by hand",
          impl_->options.command, unanswered(reply, impl_->options.prepare_limit).detail));
    }
    HelloReply hello = parse_hello_reply(reply.line);
    if (const auto bad_end = impl_->bid_farewell(worker, log)) throw DeviceError(*bad_end);
    impl_->hello = std::move(hello);
  }
  return *impl_->hello;
}

std::vector<std::string> Supervisor::prepare(std::span<const std::size_t> cases) {
  identity();
  std::vector<PrepareReply> replies(cases.size());
  const std::size_t first_log = impl_->take_logs(cases.size());
  in_jobs(impl_->options.compile_jobs, cases.size(), [&](const auto& next) {
    std::unique_ptr<WorkerProcess> worker;
    std::size_t log = 0;
    for (auto item = next(); item && !impl_->interrupted(); item = next()) {
      if (worker == nullptr) worker = impl_->start(log = first_log + *item);
      if (worker == nullptr) return;
      const Reply reply = worker->request(prepare_request(impl_->options.ids.at(cases[*item])),
                                          impl_->options.prepare_limit);
      if (reply.kind == Reply::Kind::answered) replies[*item] = parse_prepare_reply(reply.line);
      if (reply.kind != Reply::Kind::answered || ends_process(replies[*item].outcome)) {
        worker.reset();
      }
    }
    if (worker != nullptr) impl_->finish(*worker, log);
  });
  std::vector<std::string> warnings;
  for (const PrepareReply& reply : replies)
    for (const std::string& line : reply.warnings)
      if (std::ranges::find(warnings, line) == warnings.end()) warnings.push_back(line);
  return warnings;
}

std::vector<ModuleDescription> Supervisor::describe(std::size_t case_index) {
  identity();
  const std::size_t log = impl_->take_logs(1);
  const std::unique_ptr<WorkerProcess> worker = impl_->start(log);
  const std::string& id = impl_->options.ids.at(case_index);
  if (worker == nullptr) throw DeviceError(fmt::format("interrupted before {} was described", id));
  const Reply reply = worker->request(describe_request(id), impl_->options.prepare_limit);
  if (reply.kind != Reply::Kind::answered) {
    throw DeviceError(fmt::format("the worker `{}` did not describe {}: {}", impl_->options.command,
                                  id, unanswered(reply, impl_->options.prepare_limit).detail));
  }
  std::vector<ModuleDescription> modules = parse_describe_reply(reply.line);
  if (const auto bad_end = impl_->bid_farewell(*worker, log)) throw DeviceError(*bad_end);
  return modules;
}

std::vector<SequenceResult> Supervisor::execute(std::span<const Sequence> sequences) {
  identity();
  const std::size_t first_log = impl_->take_logs(sequences.size());
  std::size_t planned = 0;
  std::vector<SequenceResult> results(sequences.size());
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    results[i].outcomes.resize(sequences[i].steps.size());
    for (const Step& step : sequences[i].steps) planned += step.kind == Step::Kind::run ? 1 : 0;
  }
  impl_->done = 0;
  std::vector<Impl::Task> tasks;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    tasks.push_back({sequences[i], first_log + i, {}, false});
    if (Journal* journal = impl_->options.journal) tasks[i].place = journal->next(sequences[i]);
    if (!impl_->take_from_journal(tasks[i], results[i])) left.push_back(i);
  }
  // A worker dies with the thread that started it, so one thread does a whole sequence.
  in_jobs(impl_->options.jobs, left.size(), [&](const auto& next) {
    for (auto item = next(); item; item = next()) {
      const std::size_t i = left[*item];
      if (!impl_->may_start(tasks[i])) continue;
      impl_->run(tasks[i], planned, results[i]);
      impl_->keep(tasks[i], results[i]);
    }
  });
  return results;
}

const CarrierAbilities& Supervisor::abilities() {
  return identity().carriers;
}

std::size_t Supervisor::threads() const {
  return impl_->options.threads;
}

bool Supervisor::stopped() const {
  return impl_->interrupted();
}

std::size_t Supervisor::executions() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->executions;
}

std::size_t Supervisor::process_starts() const {
  return impl_->process_starts;
}

std::string Supervisor::bad_end() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->bad_ends.empty() ? "" : impl_->bad_ends.begin()->second;
}

std::vector<std::string> Supervisor::complaints() const {
  const std::lock_guard lock(impl_->mutex);
  return {impl_->complaints.begin(), impl_->complaints.end()};
}

void Supervisor::set_stop_at(std::chrono::steady_clock::time_point stop_at) {
  impl_->options.stop_at = stop_at;
}

}  // namespace parity
