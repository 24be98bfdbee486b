// harness run: plan, execute, judge, investigate, report.
#include "harness/run_command.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/commands.hpp"
#include "harness/investigate.hpp"
#include "harness/plan.hpp"
#include "harness/schedule.hpp"

namespace parity {
namespace {

/// Random orders, and rows that the budget cut off, leave cases without a run alone to compare
/// with.
void add_runs_alone(Session& session, ScheduleRun& done) {
  OrdersRun& run = done.run;
  OrdersRun alone = run_orders(never_alone(session.cases().size(), run.sequences, run.results),
                               session.supervisor());
  std::ranges::move(alone.sequences, std::back_inserter(run.sequences));
  std::ranges::move(alone.results, std::back_inserter(run.results));
  run.quarantined.insert(run.quarantined.end(), alone.quarantined.begin(), alone.quarantined.end());
}

ScheduleRun run_stages(Session& session, const Plan& plan, const Options& options) {
  using Clock = std::chrono::steady_clock;
  Supervisor& supervisor = session.supervisor();
  session.progress().phase("running orders");
  ScheduleOptions schedule{options.permute, options.seed, {}};
  if (const auto& end = session.ended(); end && end->budget) {
    // What ran before, and only that.
    supervisor.set_stop_at(Clock::time_point::min());
    schedule.lasts = [left = end->random_batches]() mutable { return left-- > 0; };
  } else if (options.budget && !end) {
    const Clock::time_point stop_at = Clock::now() + *options.budget;
    supervisor.set_stop_at(stop_at);
    schedule.lasts = [stop_at] { return Clock::now() < stop_at; };
  }
  ScheduleRun done = run_schedule(session.cases(), plan, schedule, supervisor);
  supervisor.set_stop_at(Clock::time_point::max());
  if (options.permute != Permute::none) add_runs_alone(session, done);
  return done;
}

}  // namespace

RunDone run_cases(Session& session, const Options& options) {
  const Plan plan =
      make_plan(session.cases(), options.permute, options.orders, options.seed, options.threads);
  session.compile();
  const ScheduleRun done = run_stages(session, plan, options);
  const OrdersRun& run = done.run;
  const Ledger& ledger = done.ledger;
  RunReport report = session.report();
  report.coverage = {orders_begun(run.results),
                     session.supervisor().executions(),
                     session.supervisor().process_starts(),
                     ledger.adjacent(),
                     ledger.ordered(),
                     ledger.together()};

  for (const std::size_t c : run.quarantined) report.quarantined.push_back(session.cases()[c].id());

  session.progress().phase("judging");
  InvestigateOptions investigation;
  investigation.foreign_worker = !options.worker.empty();
  investigation.program = options.program;
  investigation.replay_suffix = options.suffix();
  investigation.progress = [&](const std::string& text) { session.progress().note(text); };
  investigation.found = [&](std::size_t count) { session.progress().found(count); };
  Investigation found = investigate(session.cases(), run.sequences, run.results, session.judge(),
                                    session.supervisor(), investigation);
  report.cases = std::move(found.cases);
  report.findings = std::move(found.findings);
  report.interrupted = session.interrupted();
  session.progress().finish();
  RunDone ran{std::move(report), std::nullopt};
  if (done.whole)
    ran.end = JournalEnd{options.budget.has_value(), done.out_of_time, done.random_batches};
  return ran;
}

int run_command(const Options& options) {
  Session session(options, select(suite_cases(registry(), options.suite), options.filters));
  RunDone done = run_cases(session, options);
  return session.publish(std::move(done.report), done.end);
}

}  // namespace parity
