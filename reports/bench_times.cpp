// Times of kernels out of the JSON that Google Benchmark writes for tests/bench/.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/reported_case.hpp"
#include "reports/schema_readers.hpp"

namespace parity {
namespace {

double nanoseconds_of(const JsonValue& unit) {
  const std::string word = unit.text();
  if (word == "ns") return 1;
  if (word == "us") return 1e3;
  if (word == "ms") return 1e6;
  if (word == "s") return 1e9;
  unit.refuse("is none of ns, us, ms, s");
}

std::string text_or_none(const JsonValue& json, std::string_view key) {
  return json.has(key) ? json.at(key).text() : "";
}

/// The word of the label that parity_bench writes them into: "dtypes:q=bf16,k=e4m3,v=e4m3".
std::string told_dtypes(const JsonValue& bench) {
  constexpr std::string_view kKey = "dtypes:";
  const std::string label = text_or_none(bench, "label");
  if (!label.starts_with(kKey)) return "";
  return label.substr(kKey.size(), std::min(label.find(' '), label.size()) - kKey.size());
}

double positive(const JsonValue& json) {
  const double value = json.number();
  if (!(value > 0) || std::isinf(value)) json.refuse("is not above 0");
  return value;
}

/// A line of a single repetition, or the median of several; the others say the same again.
bool counts(const JsonValue& json) {
  if (json.at("run_type").text() != "aggregate") return json.at("repetitions").count() <= 1;
  return json.at("aggregate_name").text() == "median";
}

}  // namespace

std::vector<KernelTime> read_times(const JsonValue& json) {
  std::vector<KernelTime> times;
  const JsonValue context = json.at("context");
  for (const JsonValue& one : json.at("benchmarks").list()) {
    const std::string name = one.at("run_name").text();
    if (one.has("error_occurred") && one.at("error_occurred").flag())
      one.refuse(
          fmt::format("the bench {} failed ({}), and has no time: repair it, or leave it out", name,
                      one.at("error_message").text()));
    if (!one.has("of_ceiling") || !counts(one)) continue;
    KernelTime time;
    time.kernel = kernel_of(name);
    time.dtypes = told_dtypes(one);
    time.benchmark = name;
    time.nanoseconds = positive(one.at("real_time")) * nanoseconds_of(one.at("time_unit"));
    time.of_ceiling = positive(one.at("of_ceiling"));
    time.backend = text_or_none(context, "backend");
    time.device = text_or_none(context, "device");
    times.push_back(std::move(time));
  }
  if (times.empty())
    json.at("benchmarks").refuse("no bench tells of_ceiling, as parity_bench does");
  return times;
}

}  // namespace parity
