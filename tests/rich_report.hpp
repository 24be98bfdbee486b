// A report in which everything that a report can say is said.
#pragma once

#include <limits>

#include "tests/sample_report.hpp"

namespace parity {

/// Every verdict, kind, role and grade, threads, a stop, a worker error; numbers that are not
/// finite.
inline RunReport rich_report() {
  RunReport report = planted_report();
  report.seed = std::numeric_limits<std::uint64_t>::max();
  report.threads = 4;
  report.coverage.together = {.possible = 4, .planned = 3, .exercised = 2};
  report.noisy = {kHalfCase};
  report.quarantined = {"kernel/hangs"};
  report.interrupted = true;
  report.resume = "harness --resume 0123";
  report.worker_error = "the worker wrote \"<&>\"\n\t\x01 on its way";
  report.build = "0123456789abcdef";
  report.exit_code = 5;
  report.cases[0].error = std::numeric_limits<double>::quiet_NaN();
  report.cases[1].detail = "out[0]: got 1, want 2";
  for (int verdict = 0; verdict <= static_cast<int>(Verdict::not_run); ++verdict)
    report.cases.push_back({.id = "kernel/" + std::to_string(verdict),
                            .verdict = static_cast<Verdict>(verdict),
                            .error = std::numeric_limits<double>::infinity(),
                            .tolerance = 0.1,
                            .runs = 1,
                            .distinct_bits = 1,
                            .detail = "why"});
  for (int kind = 0; kind <= static_cast<int>(Kind::unconfirmed); ++kind) {
    Finding finding = leak_finding();
    finding.kind = static_cast<Kind>(kind);
    finding.fingerprint = static_cast<Fingerprint>(kind);
    finding.role = static_cast<Role>(kind % 2);
    finding.grade = static_cast<Grade>(kind % 4);
    finding.victim = "kernel/" + std::to_string(kind);
    finding.also = {"kernel/7"};
    finding.sequence = {kHalfCase, finding.victim};
    finding.threads = static_cast<std::size_t>(kind) + 1;
    finding.error = -std::numeric_limits<double>::infinity();
    report.findings.push_back(finding);
  }
  return report;
}

}  // namespace parity
