// The plan's own runs, good and bad, narrow down the polluters before anything is run again.
#include "harness/doubt.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

namespace parity {
namespace {

constexpr std::size_t kMostSuspects = 3;

bool contains(const Order& order, std::size_t c) {
  return std::find(order.begin(), order.end(), c) != order.end();
}

/// The shown run with the shortest history, of those with `suspect` in it where there is one.
const Shown& shortest(const Evidence& evidence, const Doubt& doubt,
                      std::optional<std::size_t> suspect) {
  const auto rank = [&](const Shown& shown) {
    const bool without = suspect && !contains(evidence.history(shown.sighting), *suspect);
    return std::tuple(without, shown.sighting.position, shown.sighting.plan_order());
  };
  return *std::min_element(doubt.shown.begin(), doubt.shown.end(),
                           [&](const Shown& a, const Shown& b) { return rank(a) < rank(b); });
}

/// Share of the shown runs among those of the doubt that all of `common` ran before.
double rate_after(const Evidence& evidence, const Doubt& doubt,
                  const std::vector<std::size_t>& common) {
  if (common.empty()) return 1;
  const auto after_all = std::ranges::count_if(doubt.plain, [&](const Sighting& sighting) {
    Order history = evidence.history(sighting);
    std::ranges::sort(history);
    return std::ranges::includes(history, common);
  });
  const auto shown = static_cast<double>(doubt.shown.size());
  return shown / (shown + static_cast<double>(after_all));
}

}  // namespace

std::vector<std::size_t> lasting_suspects(std::span<const Case> cases, const Evidence& evidence,
                                          std::size_t victim, const Doubt& doubt) {
  std::vector<std::size_t> shown_after(cases.size(), 0);  // counted once a run
  std::vector<bool> before_plain(cases.size(), false);
  for (const Shown& shown : doubt.shown) {
    const Order history = evidence.history(shown.sighting);
    for (std::size_t c : std::set<std::size_t>(history.begin(), history.end())) ++shown_after[c];
  }
  for (const Sighting& sighting : doubt.plain)
    for (std::size_t c : evidence.history(sighting)) before_plain[c] = true;
  std::vector<std::size_t> always;
  std::vector<std::size_t> sometimes;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (shown_after[c] == 0 || before_plain[c]) continue;
    (shown_after[c] == doubt.shown.size() ? always : sometimes).push_back(c);
  }
  std::vector<std::size_t> suspects = nearest_first(cases, victim, always);
  const std::vector<std::size_t> rest = nearest_first(cases, victim, sometimes);
  suspects.insert(suspects.end(), rest.begin(), rest.end());
  return suspects;
}

std::vector<std::size_t> common_cases(const Evidence& evidence, const std::vector<Shown>& shown) {
  if (shown.size() < 2) return {};
  std::vector<std::size_t> common;
  for (const Shown& one : shown) {
    Order history = evidence.history(one.sighting);
    std::ranges::sort(history);
    const auto repeated = std::ranges::unique(history);
    history.erase(repeated.begin(), repeated.end());
    if (&one == &shown.front()) {
      common = std::move(history);
      continue;
    }
    std::vector<std::size_t> both;
    std::ranges::set_intersection(common, history, std::back_inserter(both));
    common = std::move(both);
  }
  return common;
}

Suspicion most_telling(std::span<const Case> cases, const Evidence& evidence,
                       const Doubts& doubts) {
  using Rank = std::tuple<int, std::size_t, std::pair<std::size_t, std::size_t>>;
  std::optional<Rank> best_rank;
  Suspicion best;
  for (const auto& [victim, doubt] : doubts) {
    std::vector<std::size_t> suspects = lasting_suspects(cases, evidence, victim, doubt);
    suspects.resize(std::min(suspects.size(), kMostSuspects));
    std::optional<std::size_t> nearest;
    if (!suspects.empty()) nearest = suspects.front();
    const Shown& shown = shortest(evidence, doubt, nearest);
    const Rank rank(
        nearest ? distance(cases[*nearest], cases[victim]) : std::numeric_limits<int>::max(),
        shown.sighting.position, shown.sighting.plan_order());
    if (best_rank && *best_rank <= rank) continue;
    best_rank = rank;
    const bool is_victim = doubt.role == Role::victim;
    best = {victim,
            doubt.role,
            is_victim ? shown.fingerprint : doubt.alone,
            shown.sighting,
            std::move(suspects),
            {},
            1};
    best.common = common_cases(evidence, doubt.shown);
    best.rate = rate_after(evidence, doubt, best.common);
    // Where it shows by chance, the polluter ran before some run that shows nothing, too.
    if (best.suspects.empty() && best.common.size() <= kMostSuspects)
      best.suspects = nearest_first(cases, victim, best.common);
  }
  return best;
}

}  // namespace parity
