// harness selftest: every plant and both clean controls through the whole pipeline.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/commands.hpp"
#include "harness/plants/expectation.hpp"
#include "harness/run_command.hpp"
#include "harness/shell_words.hpp"
#include "harness/writable.hpp"
#include "reports/report.hpp"
#include "reports/selftest_writer.hpp"

namespace parity {
namespace {

/// A dozen cases of all kernels, in which nothing may be accused.
constexpr std::array<std::string_view, 12> kClean = {
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
    "paged_decode_v1/q=f32,k=f32,v=f16/d=64,hq=8,hkv=2,page=16/ragged",
    "paged_decode_v1/q=f32,k=f32,v=bf16/d=64,hq=8,hkv=2,page=16/ragged",
    "paged_decode_v1/q=bf16,k=bf16,v=bf16/d=64,hq=2,hkv=2,page=1/short",
    "paged_decode_v2/q=f16,k=f16,v=f16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged",
    "paged_decode_v2/q=f16,k=f16,v=bf16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged",
    "paged_decode_v2/q=bf16,k=f16,v=f32/d=128,hq=10,hkv=2,page=1,softcap=5,ppc=16/ragged",
    "paged_decode_v2/q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=16,ppc=tuned/ragged",
    "paged_decode_sparse/q=f16,out=f32,k=f16,v=bf16/d=64,hq=8,hkv=2/ragged",
    "paged_decode_cascade/q=f32,k=f16,v=bf16/d=64,hq=4,hkv=2,page=8,ppc=2/shared",
    "split_kv_merge/v=f32,out=bf16/d=96,h=3/ragged",
    "split_kv_merge/v=f16,out=bf16/d=96,h=3/ragged",
};

/// As a person would type it, so that a row can be seen again.
using Words = std::vector<std::string>;

Words words_for(const Options& asked, Globs cases) {
  Words words = {asked.arguments.at(0), "run", "--permute-order"};
  if (asked.backend != "auto") words.insert(words.end(), {"--backend", asked.backend});
  for (const std::string_view id : cases) words.insert(words.end(), {"--filter", std::string(id)});
  return words;
}

Words words_for(const Options& asked, const Plant& plant) {
  Words words = words_for(asked, plant.cases);
  const auto add = [&](std::string_view option, std::string value) {
    words.insert(words.end(), {std::string(option), std::move(value)});
  };
  add("--plant", std::string(plant.name));
  if (plant.random_orders > 0) add("--orders", fmt::format("random:{}", plant.random_orders));
  if (plant.threads > 1) add("--threads", fmt::to_string(plant.threads));
  if (!plant.deadline.empty()) add("--deadline", std::string(plant.deadline));
  return words;
}

class Selftest {
 public:
  explicit Selftest(const Options& asked) : asked_(asked) {}

  SelftestReport run() {
    if (asked_.plants.empty()) {
      control("no plant", words_for(asked_, kClean));
      const Plant& noise = plant_named("atomics_noise");
      Words permitted = words_for(asked_, noise);
      permitted.insert(permitted.end(), {"--noisy", "*"});
      control("atomics_noise, permitted", permitted);
      for (const Plant& one : plants()) plant(one);
    }
    for (const std::string& name : asked_.plants) plant(plant_named(name));
    return std::move(report_);
  }

 private:
  void control(std::string_view name, const Words& words) {
    row(words, "", [&](const RunReport& report) { return compared_control(name, report); });
  }

  void plant(const Plant& plant) {
    row(words_for(asked_, plant), plant.backend,
        [&](const RunReport& report) { return compared(plant, report); });
  }

  /// Runs what the words say, unless it is for another backend, and prints what came of it.
  template <typename Compare>
  void row(const Words& words, std::string_view backend, const Compare& compare) {
    if (report_.interrupted) return;
    const auto start = std::chrono::steady_clock::now();
    const Options options = parse_options(words).value();
    Session session(options, select(suite_cases(registry(), options.suite), options.filters));
    RunReport report = session.report();
    report_.backend = report.backend;
    report_.device_name = report.device_name;
    SelftestRow row = compare(report);
    row.applicable = backend.empty() || backend == report.backend;
    if (row.applicable) {
      session.compile();
      report = run_cases(session, options).report;
      report.worker_error = session.supervisor().bad_end();
      report.exit_code = exit_code(report);
      report_.interrupted = report.interrupted;
      if (report.interrupted) return;
      session.end();
      row = compare(report);
      row.executions = session.supervisor().executions();
      row.process_starts = session.supervisor().process_starts();
    } else {
      row.missing.clear();
    }
    row.command = shell_quoted(words);
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    session.progress().finish();
    fmt::print("{}{}", report_.rows.empty() ? selftest_heading() : "", selftest_line(row));
    std::fflush(stdout);
    report_.rows.push_back(std::move(row));
  }

  const Options& asked_;
  SelftestReport report_;
};

}  // namespace

int selftest_command(const Options& options) {
  check_writable("--json", options.json);
  for (const std::string& name : options.plants) (void)plant_named(name);
  const SelftestReport report = Selftest(options).run();
  fmt::print("\n{}", selftest_summary(report));
  if (!options.json.empty()) write_report(selftest_json(report), options.json);
  return exit_code(report);
}

}  // namespace parity
