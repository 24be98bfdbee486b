// harness run: plan, execute, judge, investigate, report.
#include <algorithm>
#include <iterator>
#include <utility>

#include "harness/commands.hpp"
#include "harness/investigate.hpp"
#include "harness/plan.hpp"
#include "harness/session.hpp"

namespace parity {
namespace {

/// Random orders, and rows that the budget cut off, leave cases without a run alone to compare
/// with.
void add_runs_alone(Session& session, OrdersRun& run) {
  OrdersRun alone = run_orders(never_alone(session.cases().size(), run.sequences, run.results),
                               session.supervisor());
  std::ranges::move(alone.sequences, std::back_inserter(run.sequences));
  std::ranges::move(alone.results, std::back_inserter(run.results));
  run.quarantined.insert(run.quarantined.end(), alone.quarantined.begin(), alone.quarantined.end());
}

OrdersRun run_plan(Session& session, const Plan& plan, const Options& options) {
  using Clock = std::chrono::steady_clock;
  Supervisor& supervisor = session.supervisor();
  session.progress().phase("running orders");
  if (options.budget) supervisor.set_stop_at(Clock::now() + *options.budget);
  OrdersRun run = run_orders(plan.orders, supervisor);
  supervisor.set_stop_at(Clock::time_point::max());
  if (options.permute != Permute::none) add_runs_alone(session, run);
  return run;
}

}  // namespace

int run_command(const Options& options) {
  Session session(options, select(suite_cases(registry(), options.suite), options.filters));
  const Plan plan =
      make_plan(session.cases(), options.permute, options.orders, options.seed, options.threads);
  session.compile();
  const OrdersRun run = run_plan(session, plan, options);

  Ledger ledger = plan.ledger(options.threads);
  enter(ledger, run.sequences, run.results);
  RunReport report = session.report();
  report.coverage = {orders_begun(run.results),
                     session.supervisor().executions(),
                     session.supervisor().process_starts(),
                     ledger.adjacent(),
                     ledger.ordered(),
                     ledger.together()};

  for (const std::size_t c : run.quarantined) report.quarantined.push_back(session.cases()[c].id());
  report.interrupted = session.interrupted();

  session.progress().phase("judging");
  InvestigateOptions investigation;
  investigation.foreign_worker = !options.worker.empty();
  investigation.program = options.program;
  investigation.replay_suffix = options.suffix();
  investigation.progress = [&](const std::string& text) { session.progress().note(text); };
  Investigation found = investigate(session.cases(), run.sequences, run.results, session.judge(),
                                    session.supervisor(), investigation);
  report.cases = std::move(found.cases);
  report.findings = std::move(found.findings);
  session.progress().finish();
  return session.publish(std::move(report));
}

}  // namespace parity
