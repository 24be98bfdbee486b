// harness replay: a sequence, and its last case alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness/commands.hpp"
#include "harness/evidence.hpp"
#include "harness/plan.hpp"
#include "harness/replay.hpp"
#include "harness/session.hpp"
#include "harness/summary.hpp"

namespace parity {
namespace {

/// The distinct cases of the command line, and the order in which it names them.
struct Selection {
  std::vector<Case> cases;
  Order order;
};

Selection selection(const std::vector<std::string>& ids) {
  Selection chosen;
  for (const std::string& id : ids) {
    const Case c = parse_case(registry(), id);
    const auto known = std::find(chosen.cases.begin(), chosen.cases.end(), c);
    chosen.order.push_back(static_cast<std::size_t>(known - chosen.cases.begin()));
    if (known == chosen.cases.end()) chosen.cases.push_back(c);
  }
  return chosen;
}

void print_counts(const Replay& replayed, const Order& order, std::size_t threads) {
  const auto& [in_sequence, alone] = std::pair(replayed.in_sequence, replayed.alone);
  if (order.size() > 1)
    fmt::print("the last case diverged {} of {} {} the others, {} of {} alone\n", in_sequence.hits,
               in_sequence.runs, threads > 1 ? "with" : "after", alone.hits, alone.runs);
  else
    fmt::print("the case diverged {} of {} alone\n", alone.hits, alone.runs);
}

}  // namespace

int replay_command(const Options& options) {
  const auto [cases, order] = selection(options.cases);
  Session session(options, cases);
  session.compile();
  session.progress().phase("replaying");
  Replay replayed = replay(session.cases(), order, options.repeat, session.judge(),
                           session.supervisor(), options.program, options.suffix());

  Plan plan{{order}, std::vector<std::size_t>(cases.size(), 0)};
  Ledger ledger = plan.ledger(options.threads);
  enter(ledger, replayed.sequences, replayed.results);
  RunReport report = session.report();
  report.interrupted = session.interrupted();
  report.coverage = {orders_begun(replayed.results),
                     session.supervisor().executions(),
                     session.supervisor().process_starts(),
                     ledger.adjacent(),
                     ledger.ordered(),
                     ledger.together()};
  report.cases =
      summarize(session.cases(), Evidence(cases.size(), replayed.sequences, replayed.results),
                session.judge());
  if (replayed.finding) report.findings.push_back(std::move(*replayed.finding));
  session.progress().finish();
  print_counts(replayed, order, options.threads);
  return session.publish(std::move(report));
}

}  // namespace parity
