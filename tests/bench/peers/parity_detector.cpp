// Ours behind the same interface: what `harness --permute-order` does.
#include <algorithm>

#include "harness/investigate.hpp"
#include "harness/plan.hpp"
#include "harness/schedule.hpp"
#include "tests/bench/peers/detectors.hpp"

namespace parity {
namespace {

/// Of the budget, rounds of all cases left to the investigation.
constexpr std::size_t kReservedRounds = 15;

/// Executions between the investigation's own marks: of the first finding, what it took to find the
/// sequence and to name the carrier, without what confirms it.
class Phases {
 public:
  explicit Phases(const Meter& meter) : meter_(meter) {}

  void mark(std::string_view line) {
    close();
    if (line.starts_with("shrinking")) ++findings_;
    counting_ = findings_ == 1 && !line.starts_with("confirming");
    since_ = meter_.spent();
  }
  Cost close() {
    if (counting_) counted_ = counted_ + (meter_.spent() - since_);
    counting_ = false;
    return counted_;
  }

 private:
  const Meter& meter_;
  Cost counted_;
  Cost since_;
  std::size_t findings_ = 0;
  bool counting_ = false;
};

class ParityDetector final : public Detector {
 public:
  explicit ParityDetector(bool probes) : probes_(probes) {}
  std::string_view name() const override { return probes_ ? "parity" : "parity, no probes"; }
  bool probes() const override { return probes_; }

  Detection run(Lab& lab) const override {
    const Plan plan = make_plan(lab.cases, Permute::order, {}, lab.seed);
    const std::size_t reserve = std::min(lab.meter.left() / 2, kReservedRounds * lab.cases.size());
    Meter orders(lab.meter, lab.cases.size(), lab.meter.left() - reserve);
    ScheduleRun done = run_schedule(lab.cases, plan, {Permute::order, lab.seed, {}}, orders);
    OrdersRun& runs = done.run;
    const std::vector<Order> alone = never_alone(lab.cases.size(), runs.sequences, runs.results);
    for (const Order& order : alone) {
      runs.sequences.push_back(Sequence::of(order));
      runs.results.push_back(lab.meter.execute({&runs.sequences.back(), 1}).front());
    }
    Phases phases(lab.meter);
    InvestigateOptions options;
    options.progress = [&](const std::string& line) { phases.mark(line); };
    const Investigation found =
        investigate(lab.cases, runs.sequences, runs.results, lab.judge, lab.meter, options);
    Detection detection;
    detection.claimed = done.ledger.adjacent();
    for (const Finding& finding : found.findings)
      detection.claims.push_back(claim(lab.cases, finding));
    detection.settled = phases.close();
    if (!detection.claims.empty())
      detection.detected = first_shown(detection.claims.front().victim, runs);
    return detection;
  }

 private:
  static Claim claim(std::span<const Case> cases, const Finding& finding) {
    const auto index_of = [&](const std::string& id) {
      return static_cast<std::size_t>(
          std::ranges::find_if(cases, [&](const Case& c) { return c.id() == id; }) - cases.begin());
    };
    Claim claim;
    claim.word = finding.kind == Kind::order_dependent ? Word::order_dependent
                 : finding.kind == Kind::unstable      ? Word::flaky
                                                       : Word::failed;
    for (const std::string& id : finding.sequence) claim.history.push_back(index_of(id));
    claim.victim = claim.history.back();
    claim.history.pop_back();
    claim.role = finding.role;
    claim.carrier = finding.carrier;
    return claim;
  }

  /// Up to the end of the order in which the case first went another way than alone.
  static Cost first_shown(std::size_t victim, const OrdersRun& runs) {
    const Outcome* alone = nullptr;
    for (std::size_t s = 0; s < runs.sequences.size() && alone == nullptr; ++s)
      if (runs.sequences[s].steps.front().case_index == victim &&
          runs.results[s].outcomes.front().status != Status::not_run)
        alone = &runs.results[s].outcomes.front();
    Cost cost;
    bool shown = false;
    for (std::size_t s = 0; s < runs.sequences.size() && !shown; ++s) {
      ++cost.starts;
      for (std::size_t i = 0; i < runs.sequences[s].steps.size(); ++i) {
        const Outcome& outcome = runs.results[s].outcomes[i];
        if (outcome.status == Status::not_run) continue;
        ++cost.executions;
        if (runs.sequences[s].steps[i].case_index != victim || alone == nullptr) continue;
        shown = shown || outcome.status != alone->status || outcome.outputs != alone->outputs;
      }
    }
    return cost;
  }

  bool probes_;
};

}  // namespace

std::unique_ptr<Detector> parity_detector(bool probes) {
  return std::make_unique<ParityDetector>(probes);
}

std::vector<std::unique_ptr<Detector>> detectors() {
  std::vector<std::unique_ptr<Detector>> all;
  all.push_back(gtest_shuffle());
  all.push_back(rspec_bisect());
  all.push_back(detect_test_pollution());
  all.push_back(idflakies());
  all.push_back(parity_detector(false));
  all.push_back(parity_detector(true));
  return all;
}

}  // namespace parity
