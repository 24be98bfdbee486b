// Compares an outcome with the one that its case has alone.
#include "harness/symptom.hpp"

#include <fmt/format.h>

#include <cmath>

namespace parity {
namespace {

std::string first_difference(const Outcome& outcome, const Outcome& alone) {
  for (std::size_t i = 0; i < outcome.outputs.size() && i < alone.outputs.size(); ++i) {
    const OutputDigest& here = outcome.outputs[i];
    const OutputDigest& there = alone.outputs[i];
    if (here == there) continue;
    return fmt::format("other bits of '{}' than alone: digest {} instead of {}", here.name,
                       here.digest.hex(), there.digest.hex());
  }
  return fmt::format("{} outputs instead of {} alone", outcome.outputs.size(),
                     alone.outputs.size());
}

}  // namespace

bool is_bad(Verdict verdict) {
  return verdict == Verdict::failed || verdict == Verdict::error || verdict == Verdict::crashed ||
         verdict == Verdict::timed_out;
}

bool machine_may_show(Fingerprint fingerprint) {
  return ends_process(fingerprint) || fingerprint == Fingerprint::error;
}

bool ends_process(Fingerprint fingerprint) {
  return fingerprint == Fingerprint::crash || fingerprint == Fingerprint::timeout;
}

Symptom symptom_of(const Judgement& judgement, const Outcome& outcome, const Outcome* alone,
                   bool noise_permitted) {
  Symptom symptom;
  symptom.judgement = judgement;
  symptom.ran = outcome.status != Status::not_run;
  const auto show = [&symptom](Fingerprint fingerprint, std::string detail) {
    symptom.fingerprint = fingerprint;
    symptom.detail = std::move(detail);
  };
  if (!symptom.ran) return symptom;
  if (is_bad(judgement.verdict)) {
    show(judgement.fingerprint, judgement.detail);
  } else if (alone != nullptr && alone->status == Status::ok &&
             outcome.status == Status::unsupported) {
    show(Fingerprint::error, "refused here, computed alone: " + outcome.detail);
  } else if (alone != nullptr && alone->status == Status::unsupported &&
             outcome.status == Status::ok) {
    show(Fingerprint::bits, "computed here, refused alone: " + alone->detail);
  } else if (alone != nullptr && alone->status == Status::ok && outcome.status == Status::ok) {
    const bool by_the_clock = outcome.timed_plan || alone->timed_plan;
    if (outcome.plan == alone->plan && outcome.outputs != alone->outputs && !noise_permitted)
      show(Fingerprint::bits, first_difference(outcome, *alone));
    else if (outcome.plan != alone->plan && !by_the_clock)
      show(Fingerprint::plan, fmt::format("plan '{}' here, '{}' alone", outcome.plan, alone->plan));
  }
  return symptom;
}

double worse_error(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  return a < b ? b : a;
}

}  // namespace parity
