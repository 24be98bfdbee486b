// Joined runs made by hand, with something for every part of a page: findings of several kinds,
// cases with an axis ppc, a selftest, steps and times.
#pragma once

#include <cmath>
#include <limits>
#include <string>

#include "reports/joined_runs.hpp"
#include "tests/sample_report.hpp"

namespace parity {

/// As a worker's words may be: markup, quotes, a colour of terminals, bytes that are not UTF-8, a
/// turn of direction, and a character that XML has not.
inline const std::string kHostileWords =
    "</code><script>alert(1)</script> \"q\" 'a' & \x1b[31m\n\xff \xe2\x80\xae \xef\xbf\xbe";

inline CaseSummary passed_case(const std::string& id, double error) {
  return {.id = id,
          .verdict = Verdict::passed,
          .error = error,
          .tolerance = 1e-5,
          .runs = 1,
          .distinct_bits = 1,
          .detail = "",
          .outputs = {{.name = "out", .error = error, .tolerance = 1e-5, .of_bound = 0.5}}};
}

inline std::string v2_case(const std::string& ppc) {
  return "paged_decode_v2/q=bf16,k=f16,v=f16/d=128,hq=8,hkv=2,page=16,ppc=" + ppc + "/ragged";
}

/// All passed, once: seven ways to cut, a kernel that must be exact, and one that cannot be run.
inline RunReport full_report() {
  RunReport report = clean_report();
  report.suite = "full";
  report.cases.clear();
  for (const char* ppc : {"1", "2", "16", "100000", "auto"})
    report.cases.push_back(passed_case(v2_case(ppc), 1e-7));
  report.cases.push_back(
      passed_case("paged_decode_cascade/q=f16,k=f16,v=f16/d=64,page=8,ppc=2/shared", 4e-6));
  report.cases.push_back(passed_case("rejection_sample/probs=f32/v=513,b=64/ordinary", 0));
  report.cases.back().tolerance = report.cases.back().outputs[0].tolerance = 0;
  report.cases.push_back({.id = "split_kv_merge/v=e5m2,out=f32/d=64,h=8/single",
                          .verdict = Verdict::unsupported,
                          .detail = "no such partials"});
  report.coverage = {.orders = 1,
                     .executions = 8,
                     .process_starts = 1,
                     .adjacent = {.possible = 56, .planned = 7, .exercised = 7},
                     .ordered = {.possible = 56, .planned = 28, .exercised = 28}};
  return report;
}

inline Finding crash_finding() {
  Finding finding;
  finding.kind = Kind::crash;
  finding.fingerprint = Fingerprint::crash;
  finding.victim = v2_case("tuned");
  finding.replay = "harness replay " + finding.victim;
  finding.reproduced = {.hits = 5, .runs = 5};
  finding.alone = {.hits = 5, .runs = 5};
  finding.error = std::numeric_limits<double>::quiet_NaN();
  finding.detail = kHostileWords;
  return finding;
}

/// Three in one process, seen in three of five.
inline Finding rare_finding() {
  Finding finding = leak_finding();
  finding.fingerprint = Fingerprint::bits;
  finding.sequence = {kHalfCase, v2_case("1"), kSingleCase};
  finding.also = {v2_case("2"), v2_case("16")};
  finding.carrier.clear();
  finding.cell.clear();
  finding.grade = Grade::unnamed;
  finding.reproduced = {.hits = 3, .runs = 5};
  return finding;
}

inline RunReport broken_report() {
  RunReport report = planted_report();
  report.findings.push_back(rare_finding());
  report.findings.push_back(crash_finding());
  report.cases.push_back(
      {.id = v2_case("tuned"), .verdict = Verdict::crashed, .runs = 5, .detail = ""});
  report.cases.push_back({.id = "gumbel_max_sample/logits=bf16/v=256,b=64/duel",
                          .verdict = Verdict::failed,
                          .error = std::numeric_limits<double>::infinity(),
                          .tolerance = 1e-5,
                          .runs = 2,
                          .distinct_bits = 1,
                          .detail = kHostileWords});
  report.quarantined = {v2_case("tuned")};
  report.worker_error = kHostileWords;
  return report;
}

inline SelftestReport selftest_report() {
  SelftestReport report;
  report.backend = "host";
  report.device_name = "Test CPU";
  SelftestRow found;
  found.leak_class = "first-wins";
  found.name = "weak_module_key";
  found.found = found.exact = found.carrier_right = true;
  found.carrier = "module_cache";
  found.grade = "confirmed";
  found.executions = 45;
  found.process_starts = 20;
  found.command = "harness --permute-order --plant weak_module_key";
  SelftestRow missed = found;
  missed.name = "dirty_workspace";
  missed.found = missed.exact = missed.carrier_right = false;
  missed.missing = "no finding at all";
  SelftestRow control;
  control.leak_class = "clean";
  control.name = "no plant";
  control.control = control.found = true;
  report.rows = {control, found, missed};
  return report;
}

inline JoinedRuns sample_night() {
  JoinedRuns joined;
  joined.commit = "0123abc";
  joined.runs = {{"smoke.json", broken_report()}, {"full.json", full_report()}};
  joined.selftests = {{"selftest.json", selftest_report()}};
  joined.steps = {{"audit", "harness audit", 0, "each module has a key of its own"},
                  {"golden verify", "harness golden verify smoke.h5", 1, kHostileWords}};
  joined.times = {{.kernel = "paged_decode_v2",
                   .dtypes = "q=bf16,k=bf16,v=bf16",
                   .benchmark = "paged_decode_v2/tokens:4096/ppc:4",
                   .nanoseconds = 18250.5,
                   .of_ceiling = 0.81,
                   .backend = "cuda",
                   .device = "Test GPU"},
                  {.kernel = "split_kv_merge",
                   .dtypes = "v=f32",
                   .benchmark = "split_kv_merge/tokens:4096",
                   .nanoseconds = 950,
                   .of_ceiling = 0,
                   .backend = "cuda",
                   .device = "Test GPU"}};
  return joined;
}

/// One run of `count` cases, all different, with an axis ppc; all passed.
inline JoinedRuns many_cases(std::size_t count) {
  JoinedRuns joined;
  joined.runs.push_back({"full.json", clean_report()});
  RunReport& report = joined.runs.front().report;
  report.cases.clear();
  constexpr const char* kElements[] = {"f32", "f16", "bf16", "e4m3", "e5m2"};
  for (std::size_t i = 0; i < count; ++i) {
    const std::string dtypes = std::string("q=") + kElements[i % 3] + ",k=" + kElements[i / 3 % 5] +
                               ",v=" + kElements[i / 15 % 5];
    report.cases.push_back(passed_case("paged_decode_v2/" + dtypes + "/d=" + std::to_string(i) +
                                           ",ppc=" + std::to_string(1 << i % 7) + "/ragged",
                                       1e-7 * static_cast<double>(i % 40 + 1)));
  }
  return joined;
}

}  // namespace parity
