#include "harness/summary.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "harness/symptom.hpp"

namespace parity {
namespace {

/// Severity grows to the right; the worst is what the summary says.
bool is_worse(Verdict a, Verdict b) {
  constexpr std::array kMildToSevere = {Verdict::not_run,   Verdict::unsupported, Verdict::passed,
                                        Verdict::untrusted, Verdict::failed,      Verdict::error,
                                        Verdict::timed_out, Verdict::crashed};
  const auto rank = [&](Verdict verdict) {
    return std::find(kMildToSevere.begin(), kMildToSevere.end(), verdict) - kMildToSevere.begin();
  };
  return rank(a) > rank(b);
}

/// Keeps the worst of each output.
void add(std::vector<OutputError>& worst, const std::vector<OutputError>& more) {
  for (const OutputError& output : more) {
    const auto known = std::ranges::find(worst, output.name, &OutputError::name);
    if (known == worst.end()) {
      worst.push_back(output);
      continue;
    }
    known->error = worse_error(known->error, output.error);
    known->of_bound = worse_error(known->of_bound, output.of_bound);
  }
}

CaseSummary summarize_case(const Case& c, const std::vector<Sighting>& sightings, Judge& judge) {
  CaseSummary summary;
  summary.id = c.id();
  std::set<std::vector<std::pair<std::string, Digest>>> bits;
  for (const Sighting& sighting : sightings) {
    const Judgement judgement = judge.judge(sighting.case_index, *sighting.outcome);
    if (is_worse(judgement.verdict, summary.verdict)) {
      summary.verdict = judgement.verdict;
      summary.detail = judgement.detail;
    }
    summary.error = worse_error(summary.error, judgement.error);
    summary.tolerance = std::max(summary.tolerance, judgement.tolerance);
    add(summary.outputs, judgement.outputs);
    if (sighting.outcome->status != Status::ok) continue;
    ++summary.runs;
    std::vector<std::pair<std::string, Digest>> digests;
    for (const OutputDigest& output : sighting.outcome->outputs)
      digests.emplace_back(output.name, output.digest);
    bits.insert(std::move(digests));
  }
  summary.distinct_bits = bits.size();
  return summary;
}

}  // namespace

std::vector<CaseSummary> summarize(std::span<const Case> cases, const Evidence& evidence,
                                   Judge& judge) {
  std::vector<CaseSummary> summaries;
  for (std::size_t c = 0; c < cases.size(); ++c)
    summaries.push_back(summarize_case(cases[c], evidence.of(c), judge));
  return summaries;
}

}  // namespace parity
