#include "harness/suspicion.hpp"

namespace parity {

Trial read(const Suspicion& suspicion, const Symptom& symptom) {
  if (!symptom.ran) return Trial::unresolved;
  if (suspicion.role == Role::brittle) {
    if (symptom.judgement.verdict == Verdict::passed) return Trial::fails;
    return symptom.fingerprint == suspicion.fingerprint ? Trial::passes : Trial::unresolved;
  }
  if (symptom.fingerprint == suspicion.fingerprint) return Trial::fails;
  return symptom.fingerprint == Fingerprint::none ? Trial::passes : Trial::unresolved;
}

bool diverged(const Suspicion& suspicion, const Symptom& symptom) {
  if (suspicion.role == Role::brittle) return read(suspicion, symptom) == Trial::fails;
  return symptom.ran && symptom.fingerprint != Fingerprint::none;
}

}  // namespace parity
