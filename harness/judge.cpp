// Outcomes to verdicts: what the worker's answer says by itself, then the reference
// (judge_output.cpp).
#include "harness/judge.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace parity {
namespace {

std::vector<PackCase> read_cases(const std::vector<std::string>& ids, const PackReader& pack) {
  std::vector<PackCase> cases;
  for (const std::string& id : ids) {
    cases.push_back(pack.read(id));
    // Judging needs no input data, and a large suite's would not fit in memory.
    for (PackInput& input : cases.back().inputs) input.data.reset();
  }
  return cases;
}

const OutputDigest* find_output(const Outcome& outcome, std::string_view name) {
  for (const OutputDigest& output : outcome.outputs)
    if (output.name == name) return &output;
  return nullptr;
}

/// A verdict that needs no output: the worker did not get that far.
std::optional<Judgement> without_outputs(const Outcome& outcome) {
  const auto ended = [&](Verdict verdict, Fingerprint fingerprint) {
    Judgement judgement;
    judgement.verdict = verdict;
    judgement.fingerprint = fingerprint;
    judgement.detail = outcome.detail;
    return judgement;
  };
  switch (outcome.status) {
    case Status::ok:
      return std::nullopt;
    case Status::unsupported:
      return ended(Verdict::unsupported, Fingerprint::none);
    case Status::error:
      return ended(Verdict::error, Fingerprint::error);
    case Status::crashed:
      return ended(Verdict::crashed, Fingerprint::crash);
    case Status::timed_out:
      return ended(Verdict::timed_out, Fingerprint::timeout);
    case Status::not_run:
      break;
  }
  return ended(Verdict::not_run, Fingerprint::none);
}

/// Failing before sound, then by how many tolerances it is off.
bool is_worse(const Judgement& a, const Judgement& b) {
  const auto rank = [](const Judgement& judgement) {
    constexpr std::array kMildToSevere = {Verdict::untrusted, Verdict::passed, Verdict::failed};
    return std::find(kMildToSevere.begin(), kMildToSevere.end(), judgement.verdict) -
           kMildToSevere.begin();
  };
  if (rank(a) != rank(b)) return rank(a) > rank(b);
  return a.error * b.tolerance > b.error * a.tolerance;
}

Judgement judge_outputs(const PackCase& pack_case, const Outcome& outcome, const BlobStore& blobs) {
  Judgement worst;
  worst.verdict = Verdict::untrusted;
  worst.detail = "the case has no output";
  bool first = true;
  std::vector<OutputError> errors;
  for (const PackOutput& output : pack_case.outputs) {
    const OutputDigest* found = find_output(outcome, output.name);
    if (found == nullptr) {
      Judgement missing;
      missing.verdict = Verdict::error;
      missing.fingerprint = Fingerprint::error;
      missing.detail = fmt::format("the worker returned no output '{}'", output.name);
      return missing;
    }
    const Judgement judgement = judge_output(output, blobs.read(output.type, found->digest));
    errors.insert(errors.end(), judgement.outputs.begin(), judgement.outputs.end());
    if (first || is_worse(judgement, worst)) worst = judgement;
    first = false;
  }
  worst.outputs = std::move(errors);
  return worst;
}

/// Tier 3: what the run did to memory that is not its own, or did not do to its outputs.
void apply_hygiene(const Outcome& outcome, Judgement& judgement) {
  const auto fail = [&](Fingerprint fingerprint, std::string detail) {
    judgement.verdict = Verdict::failed;
    judgement.fingerprint = fingerprint;
    judgement.detail = std::move(detail);
  };
  if (!outcome.broken_guards.empty())
    fail(Fingerprint::guard,
         fmt::format("wrote outside of {}", fmt::join(outcome.broken_guards, ", ")));
  else if (!outcome.changed_inputs.empty())
    fail(Fingerprint::input,
         fmt::format("changed its input {}", fmt::join(outcome.changed_inputs, ", ")));
  else if (outcome.unwritten != 0)
    fail(Fingerprint::unwritten, fmt::format("left {} output element{} unwritten",
                                             outcome.unwritten, outcome.unwritten == 1 ? "" : "s"));
}

Digest outputs_digest(const Outcome& outcome) {
  std::string text;
  for (const OutputDigest& output : outcome.outputs)
    text += fmt::format("{}={}\n", output.name, output.digest.hex());
  return digest(text);
}

/// First element whose bits differ; nothing where the tensors are equal.
std::optional<std::string> first_difference_in(const PackOutput& output, const Tensor& here,
                                               const Tensor& alone) {
  const std::size_t size = size_of(here.dtype());
  for (std::int64_t i = 0; i < here.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * size;
    if (std::ranges::equal(here.bytes().subspan(at, size), alone.bytes().subspan(at, size)))
      continue;
    return fmt::format("{}: {:.9g} here, {:.9g} alone", place(output, i), here.at(i), alone.at(i));
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Verdict verdict) {
  constexpr std::array<std::string_view, 8> kNames = {
      "passed", "failed", "untrusted", "unsupported", "error", "crashed", "timed_out", "not_run"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::string_view name(Fingerprint fingerprint) {
  constexpr std::array<std::string_view, 10> kNames = {"none",    "mismatch",  "bits",  "plan",
                                                       "guard",   "unwritten", "input", "crash",
                                                       "timeout", "error"};
  return kNames.at(static_cast<std::size_t>(fingerprint));
}

Judge::Judge(const std::vector<std::string>& ids, const PackReader& pack, const BlobStore& blobs)
    : Judge(read_cases(ids, pack), blobs) {}

Judge::Judge(std::vector<PackCase> cases, const BlobStore& blobs)
    : cases_(std::move(cases)), blobs_(blobs) {}

Judgement Judge::judge(std::size_t case_index, const Outcome& outcome) {
  const PackCase& pack_case = cases_.at(case_index);
  if (auto judgement = without_outputs(outcome)) return *judgement;
  const auto key = std::pair(case_index, outputs_digest(outcome));
  auto known = known_.find(key);
  if (known == known_.end())
    known = known_.emplace(key, judge_outputs(pack_case, outcome, blobs_)).first;
  Judgement judgement = known->second;
  if (judgement.verdict != Verdict::error) apply_hygiene(outcome, judgement);
  return judgement;
}

std::string Judge::first_difference(std::size_t case_index, const Outcome& here,
                                    const Outcome& alone) const {
  if (here.status != Status::ok || alone.status != Status::ok)
    return fmt::format("{}: {}",
                       here.status == Status::ok ? "computed here, not alone" : "not computed here",
                       here.status == Status::ok ? alone.detail : here.detail);
  if (here.plan != alone.plan)
    return fmt::format("plan '{}' here, '{}' alone", here.plan, alone.plan);
  for (const PackOutput& output : cases_.at(case_index).outputs) {
    const OutputDigest* a = find_output(here, output.name);
    const OutputDigest* b = find_output(alone, output.name);
    if (a == nullptr || b == nullptr) return fmt::format("output '{}' is missing", output.name);
    if (*a == *b) continue;
    auto found = first_difference_in(output, blobs_.read(output.type, a->digest),
                                     blobs_.read(output.type, b->digest));
    if (found) return *found;
  }
  return "no difference";
}

}  // namespace parity
