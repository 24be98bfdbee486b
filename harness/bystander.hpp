// Cases that went down with others: where a process ends while several cases ran at the same time,
// all of them have crashed, and not all of them had a part in it.
#pragma once

#include "harness/accusation.hpp"
#include "harness/cluster.hpp"
#include "harness/evidence.hpp"
#include "harness/trials.hpp"

namespace parity {

/// A run of the group that ended its process without which it does not: `sighting` itself unless
/// the others end the process without it. Costs at most one trial for each case of the group.
Sighting culprit_of(const Sighting& sighting, Fingerprint fingerprint, const Evidence& evidence,
                    Trials& trials);

/// Whether the accusation's sequence, which ends its process, was among what ran before or with the
/// run that was shown: then that run needs no finding of its own.
bool went_down_with(const Shown& shown, const Accusation& accusation, const Evidence& evidence);

}  // namespace parity
