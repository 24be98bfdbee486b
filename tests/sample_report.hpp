// Reports made by hand, for the exact-output tests of the writers.
#pragma once

#include "harness/finding.hpp"

namespace parity {

inline constexpr const char* kHalfCase =
    "paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged";
inline constexpr const char* kSingleCase =
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged";

/// Two cases, both right, with the same bits in all six runs each.
inline RunReport clean_report() {
  RunReport report;
  report.backend = "host";
  report.device_name = "Test CPU";
  report.device_arch = "x86-64-v3";
  report.device_driver = "host";
  report.seed = 7;
  report.suite = "smoke";
  for (const char* id : {kHalfCase, kSingleCase}) {
    report.cases.push_back(
        {.id = id,
         .verdict = Verdict::passed,
         .error = 2e-7,
         .tolerance = 1e-5,
         .runs = 3,
         .distinct_bits = 1,
         .detail = "",
         .outputs = {{.name = "out", .error = 1e-7, .tolerance = 1e-5, .of_bound = 0.25},
                     {.name = "lse", .error = 2e-7, .tolerance = 1e-5, .of_bound = 0}}});
  }
  report.coverage = {.orders = 2,
                     .executions = 6,
                     .process_starts = 2,
                     .adjacent = {.possible = 2, .planned = 2, .exercised = 2},
                     .ordered = {.possible = 2, .planned = 2, .exercised = 2}};
  report.not_probed = {"environment", "rng_stream"};
  return report;
}

/// The leak that the plant weak_module_key causes between the two cases.
inline Finding leak_finding() {
  Finding finding;
  finding.kind = Kind::order_dependent;
  finding.fingerprint = Fingerprint::mismatch;
  finding.victim = kSingleCase;
  finding.sequence = {kHalfCase, kSingleCase};
  finding.carrier = "module_cache";
  finding.cell = "paged_decode_v1<D=64,GROUP=4>";
  finding.built_for = "q=f32,k=f16,v=f32";
  finding.used_for = "q=f32,k=f32,v=f32";
  finding.grade = Grade::confirmed;
  finding.replay = std::string("harness replay ") + kHalfCase + " " + kSingleCase +
                   " --repeat 20 --plant weak_module_key";
  finding.contrast =
      std::string("harness replay ") + kSingleCase + " --repeat 20 --plant weak_module_key";
  finding.reproduced = {.hits = 5, .runs = 5};
  finding.alone = {.hits = 0, .runs = 6};
  finding.error = 16987.25;
  finding.tolerance = 1e-5;
  finding.detail = "out[0,3,17]: got 1.5, want 0.25 (row error 16987.2 > 1e-05)";
  finding.exposed = {"parity::paged_decode_v1 (q=f32,k=f16,v=f32 and q=f32,k=f32,v=f32)"};
  finding.not_probed = {"environment", "rng_stream"};
  return finding;
}

inline RunReport planted_report() {
  RunReport report = clean_report();
  report.plants = {"weak_module_key"};
  report.cases[1].verdict = Verdict::failed;
  report.cases[1].error = 16987.25;
  report.cases[1].distinct_bits = 2;
  report.findings = {leak_finding()};
  report.exit_code = 3;
  return report;
}

}  // namespace parity
