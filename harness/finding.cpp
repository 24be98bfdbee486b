// Names of what a finding says, and the exit code that a report earns.
#include "harness/finding.hpp"

#include <algorithm>
#include <array>

namespace parity {
namespace {

bool happens_alone(Kind kind) {
  return kind != Kind::order_dependent && kind != Kind::unstable && kind != Kind::unconfirmed;
}

/// Whether a finding of another kind already says why this case is not well.
bool explained(const RunReport& report, const std::string& id) {
  return std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& finding) {
    return finding.victim == id ||
           std::find(finding.also.begin(), finding.also.end(), id) != finding.also.end();
  });
}

bool is_well(Verdict verdict) {
  return verdict == Verdict::passed || verdict == Verdict::unsupported;
}

bool was_executed(Verdict verdict) {
  return verdict != Verdict::not_run && verdict != Verdict::unsupported;
}

bool is_ill(const CaseSummary& summary) {
  return was_executed(summary.verdict) && !is_well(summary.verdict);
}

}  // namespace

Kind kind_alone(Fingerprint fingerprint) {
  switch (fingerprint) {
    case Fingerprint::guard:
    case Fingerprint::unwritten:
    case Fingerprint::input:
      return Kind::hygiene;
    case Fingerprint::crash:
      return Kind::crash;
    case Fingerprint::timeout:
      return Kind::timeout;
    case Fingerprint::error:
      return Kind::error;
    default:
      return Kind::mismatch;
  }
}

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {"order_dependent", "unstable",   "mismatch",
                                                      "hygiene",         "crash",      "timeout",
                                                      "error",           "unconfirmed"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 2> kNames = {"victim", "brittle"};
  return kNames.at(static_cast<std::size_t>(role));
}

std::string_view name(Grade grade) {
  constexpr std::array<std::string_view, 4> kNames = {"confirmed", "necessary", "correlated",
                                                      "unnamed"};
  return kNames.at(static_cast<std::size_t>(grade));
}

int exit_code(const RunReport& report) {
  const auto any_finding = [&](auto&& of_kind) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [&](const Finding& finding) { return of_kind(finding.kind); });
  };
  const auto& cases = report.cases;
  constexpr int kInfrastructure = 5;
  if (!report.worker_error.empty()) return kInfrastructure;
  if (any_finding([](Kind kind) { return kind == Kind::order_dependent; })) return 3;
  if (any_finding(happens_alone)) return 1;
  if (report.interrupted) {
    const bool seen = !report.findings.empty() || std::ranges::any_of(cases, is_ill);
    // Never green: nothing found in what ran is not nothing there.
    return seen ? 4 : kInfrastructure;
  }
  if (std::none_of(cases.begin(), cases.end(),
                   [](const CaseSummary& c) { return was_executed(c.verdict); }))
    return 2;
  if (std::any_of(cases.begin(), cases.end(), [&](const CaseSummary& c) {
        return !is_well(c.verdict) && !explained(report, c.id);
      }))
    return 1;
  return report.findings.empty() ? 0 : 4;
}

}  // namespace parity
