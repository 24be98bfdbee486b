// Reports of every schema as text, and a folder to read them back from.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "datasets/errors.hpp"
#include "reports/report.hpp"
#include "reports/report_reader.hpp"
#include "reports/selftest_writer.hpp"
#include "tests/rich_report.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {

inline std::string written(const RunReport& report) {
  std::ostringstream out;
  make_json_writer()->write(report, out);
  return out.str();
}

inline SelftestReport selftest() {
  SelftestRow plant;
  plant.leak_class = "race";
  plant.name = "race_90";
  plant.found = plant.exact = true;
  plant.carrier = "device_constants";
  plant.grade = "confirmed";
  plant.rate = "18 of 20";
  plant.executions = 45;
  plant.process_starts = 20;
  plant.missing = "another carrier";
  plant.worker_error = "it died";
  plant.command = "harness run --plant race_90";
  SelftestRow elsewhere;
  elsewhere.leak_class = "last-writer";
  elsewhere.name = "last_error_left_over";
  elsewhere.applicable = false;
  SelftestRow control;
  control.leak_class = "clean";
  control.name = "no plant";
  control.control = control.found = true;
  return {.backend = "host", .device_name = "Test CPU", .rows = {control, plant, elsewhere}};
}

inline constexpr const char* kBenches = R"json({
  "context": {"executable": "parity_bench", "backend": "cuda", "device": "Test GPU"},
  "benchmarks": [
    {"run_name": "paged_decode_v2/rows:8/pool:e4m3/tile:8/ppc:auto/manual_time",
     "run_type": "iteration", "repetitions": 1, "real_time": 2.5, "time_unit": "us", "of_ceiling": 0.5,
     "label": "dtypes:q=bf16,k=e4m3,v=e4m3 splits of 4"},
    {"run_name": "gumbel_max_sample/rows:2/v:4096/f32/splits:auto/manual_time",
     "run_type": "iteration", "repetitions": 3, "real_time": 9, "time_unit": "ms", "of_ceiling": 0.25},
    {"run_name": "gumbel_max_sample/rows:2/v:4096/f32/splits:auto/manual_time",
     "run_type": "aggregate", "aggregate_name": "median", "repetitions": 3, "real_time": 7,
     "time_unit": "ms", "of_ceiling": 0.75, "label": "dtypes:logits=f32"},
    {"run_name": "gumbel_max_sample/rows:2/v:4096/f32/splits:auto/manual_time",
     "run_type": "aggregate", "aggregate_name": "cv", "repetitions": 3, "real_time": 0.1,
     "time_unit": "ms", "of_ceiling": 0.01},
    {"run_name": "judge/one_output", "run_type": "iteration", "repetitions": 1, "real_time": 3,
     "time_unit": "us"}
  ]
})json";

class WrittenReportTest : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text, const std::string& name = "r.json") const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::remove(path);  // a file that is cut and filled again waits for the disk
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  JoinedRuns read(const std::string& text) const {
    JoinedRuns joined;
    read_into(joined, file(text));
    return joined;
  }
  /// What a DatasetError says of this text, behind the file's name.
  std::string refusal(const std::string& text) const {
    const std::filesystem::path path = file(text);
    try {
      JoinedRuns joined;
      read_into(joined, path);
    } catch (const DatasetError& error) {
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with(path.string() + " ")) << what;
      return what.substr(std::min(what.size(), path.string().size() + 1));
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

}  // namespace parity
