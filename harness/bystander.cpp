// Whom to accuse when several went down at once.
#include "harness/bystander.hpp"

#include <algorithm>
#include <vector>

namespace parity {
Sighting culprit_of(const Sighting& sighting, Fingerprint fingerprint, const Evidence& evidence,
                    Trials& trials) {
  std::vector<Sighting> company = evidence.company(sighting);
  if (!ends_process(fingerprint)) return sighting;
  Order before = evidence.history(sighting);
  before.resize(before.size() - company.size());
  Sighting culprit = sighting;
  while (!company.empty()) {
    TrialOrder without{before, sighting.poison};
    for (const Sighting& other : company) without.order.push_back(other.case_index);
    if (trials.run({without}).front().symptom.fingerprint != fingerprint) break;
    culprit = company.back();
    company.pop_back();
  }
  return culprit;
}

bool went_down_with(const Shown& shown, const Accusation& accusation, const Evidence& evidence) {
  if (accusation.finding.kind != Kind::order_dependent || !ends_process(shown.fingerprint) ||
      accusation.finding.fingerprint != shown.fingerprint)
    return false;
  if (evidence.company(shown.sighting).empty()) return false;
  Order ran = evidence.history(shown.sighting);
  ran.push_back(shown.sighting.case_index);
  Order sequence = accusation.history;
  sequence.push_back(accusation.victim);
  std::ranges::sort(ran);
  std::ranges::sort(sequence);
  return std::ranges::includes(ran, sequence);
}

}  // namespace parity
