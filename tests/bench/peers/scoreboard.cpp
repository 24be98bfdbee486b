// Scoring against the truth, and the tables.
#include "tests/bench/peers/scoreboard.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parity {
namespace {

constexpr std::size_t kReplays = 20;

/// Wrong by the claim's own measure: called order-dependent where no order reaches it.
bool is_false(const Claim& claim, const LeakPlant& plant) {
  if (plant.leak_class == LeakClass::clean || claim.victim != plant.victim) return true;
  if (claim.word != Word::order_dependent) return false;
  return !plant.order_dependent || !plant.reaches(claim.history);
}

/// How often the victim goes another way than alone when what is claimed is run again.
std::size_t replayed(const Claim& claim, SimulatedWorker& worker) {
  Order order = claim.history;
  order.push_back(claim.victim);
  std::vector<Sequence> sequences(kReplays, Sequence::of(order));
  sequences.push_back(Sequence::of(std::span(order).last(1)));
  const std::vector<SequenceResult> results = worker.execute(sequences);
  const Outcome& usual = results.back().outcomes.back();
  std::size_t hits = 0;
  for (std::size_t i = 0; i < kReplays; ++i) {
    const Outcome& outcome = results[i].outcomes.back();
    hits += outcome.status != usual.status || outcome.outputs != usual.outputs ? 1 : 0;
  }
  return hits;
}

std::string percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string mean(const Cost& sum, std::size_t count) {
  if (count == 0) return "-";
  const auto of = [count](std::size_t part) {
    return static_cast<double>(part) / static_cast<double>(count);
  };
  return fmt::format("{:.1f} in {:.1f}", of(sum.executions), of(sum.starts));
}

/// Of the summary. What depends on no order can only be accused falsely.
std::string cell(LeakClass leak_class, const Score& score) {
  const bool is_control = leak_class == LeakClass::flake_30 || leak_class == LeakClass::noise ||
                          leak_class == LeakClass::clean;
  if (is_control) return percent(score.false_alarms, score.placements) + " accused";
  if (score.found == 0) return "not seen";
  if (score.told == 0) return "seen";
  return percent(score.exact, score.placements) + ", " + mean(score.settled, score.told);
}

}  // namespace

void Score::add(const Score& other) {
  placements += other.placements;
  found += other.found;
  told += other.told;
  exact += other.exact;
  carrier += other.carrier;
  false_alarms += other.false_alarms;
  detected = detected + other.detected;
  settled = settled + other.settled;
  replays += other.replays;
  replayed += other.replayed;
  adjacent.possible += other.adjacent.possible;
  adjacent.exercised += other.adjacent.exercised;
  claimed.possible += other.claimed.possible;
  claimed.exercised += other.claimed.exercised;
}

Score score(const Detector& detector, LeakClass leak_class, const Contest& contest,
            std::size_t placement) {
  SimulatedSuite suite(contest.cases);
  const LeakPlant plant = leak_plant(leak_class, suite, contest.seed * 1000 + placement);
  SimulatedWorker worker = worker_of(suite, plant, detector.probes());
  Judge judge = suite.judge();
  Meter meter(worker, contest.cases, contest.executions());
  Lab lab{suite.cases(), judge, meter, contest.seed * 1000 + placement};
  const Detection detection = detector.run(lab);

  Score score;
  score.placements = 1;
  score.adjacent = meter.ledger().adjacent();
  score.claimed = detection.claimed;
  for (const Claim& claim : detection.claims)
    if (is_false(claim, plant)) score.false_alarms = 1;
  const auto claim = std::ranges::find_if(
      detection.claims, [&](const Claim& one) { return one.victim == plant.victim; });
  if (leak_class == LeakClass::clean || claim == detection.claims.end()) return score;
  score.found = 1;
  score.detected = detection.detected;
  if (plant.order_dependent) {
    score.replays = kReplays;
    score.replayed = replayed(*claim, worker);
  }
  if (claim->word != Word::order_dependent || is_false(*claim, plant)) return score;
  score.told = 1;
  score.settled = detection.settled;
  score.exact = claim->role == plant.role && plant.is_minimal(claim->history) ? 1 : 0;
  score.carrier = claim->carrier == kLeakCarrier ? 1 : 0;
  return score;
}

Score score(const Detector& detector, LeakClass leak_class, const Contest& contest) {
  Score sum;
  for (std::size_t placement = 0; placement < contest.placements; ++placement)
    sum.add(score(detector, leak_class, contest, placement));
  return sum;
}

std::string table(LeakClass leak_class, const Contest& contest,
                  const std::vector<std::string>& names, const std::vector<Score>& scores) {
  std::string text = fmt::format(
      "### {}, {} cases\n\n"
      "| | found | told | exact | carrier | false alarms | to the first sight | from there to the "
      "sequence | replays | adjacent pairs run | claimed |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|\n",
      name(leak_class), contest.cases);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Score& score = scores[i];
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", names[i],
        percent(score.found, score.placements), percent(score.told, score.placements),
        percent(score.exact, score.placements), percent(score.carrier, score.placements),
        percent(score.false_alarms, score.placements), mean(score.detected, score.found),
        mean(score.settled, score.told), percent(score.replayed, score.replays),
        percent(score.adjacent.exercised, score.adjacent.possible),
        percent(score.claimed.exercised, score.claimed.possible));
  }
  return text;
}

std::string summary(const Contest& contest, const std::vector<std::string>& names,
                    const std::vector<std::vector<Score>>& scores) {
  std::string text = fmt::format("| {} cases, {} placements |", contest.cases, contest.placements);
  std::string rule = "|---|";
  for (const std::string& detector : names) {
    text += " " + detector + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  for (std::size_t c = 0; c < scores.size(); ++c) {
    text += fmt::format("| {} |", name(leak_classes()[c]));
    for (const Score& score : scores[c]) text += " " + cell(leak_classes()[c], score) + " |";
    text += "\n";
  }
  return text;
}

}  // namespace parity
