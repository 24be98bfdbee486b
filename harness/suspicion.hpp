// A case that went another way in an order than alone, before anything was run again.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/evidence.hpp"
#include "harness/finding.hpp"
#include "harness/shrink.hpp"
#include "harness/symptom.hpp"

namespace parity {

/// role victim: `fingerprint` is what it showed there; brittle: what it shows alone, and it was
/// well there.
struct Suspicion {
  std::size_t victim = 0;
  Role role = Role::victim;
  Fingerprint fingerprint = Fingerprint::none;
  Sighting sighting;
  std::vector<std::size_t> suspects;     ///< single polluters (state-setters) to try first
  std::vector<std::size_t> common = {};  ///< ran before every run that went this way, of several
  double rate = 1;  ///< share of these runs among those that all of `common` ran before
};

/// fails: the case went the suspected way; passes: as alone. What fails in another way than the
/// suspected one is unresolved, so that shrinking does not slip from one fault to another.
Trial read(const Suspicion& suspicion, const Symptom& symptom);

/// Whether it went another way than alone, whichever: of a fixed order that counts in its rate, as
/// one leak may show as this and that.
bool diverged(const Suspicion& suspicion, const Symptom& symptom);

}  // namespace parity
