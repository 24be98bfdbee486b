// Times of kernels out of the JSON that Google Benchmark writes for tests/bench/.
#include <fmt/format.h>

#include <cmath>

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

/// What stands behind `key`, up to the next slash; empty: nothing does.
std::string part_behind(const std::string& name, std::string_view key) {
  const std::size_t at = name.find(key);
  if (at == std::string::npos) return "";
  const std::size_t from = at + key.size();
  return name.substr(from, name.find('/', from) - from);
}

/// A bench names only what is not bf16 (DecodeShape), a sampler's its one dtype.
std::string dtypes_of(const std::string& kernel, const std::string& name) {
  if (kernel.starts_with("paged_decode")) {
    const std::string pool = part_behind(name, "/pool:");
    return fmt::format("q=bf16,k={0},v={0}", pool.empty() ? "bf16" : pool);
  }
  if (kernel == "split_kv_merge") return "v=f32,out=bf16";
  const std::string_view axis = kernel == "gumbel_max_sample"  ? "logits"
                                : kernel == "rejection_sample" ? "probs"
                                                               : "";
  for (const char* dtype : {"f32", "bf16", "f16"})
    if (!axis.empty() && name.find(fmt::format("/{}/", dtype)) != std::string::npos)
      return fmt::format("{}={}", axis, dtype);
  return "";
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
  for (const JsonValue& one : json.at("benchmarks").list()) {
    const std::string name = one.at("run_name").text();
    if (one.has("error_occurred") && one.at("error_occurred").flag())
      one.refuse(
          fmt::format("the bench {} failed ({}), and has no time: repair it, or leave it out", name,
                      one.at("error_message").text()));
    if (!one.has("of_ceiling") || !counts(one)) continue;
    KernelTime time;
    time.kernel = name.substr(0, name.find('/'));
    time.dtypes = dtypes_of(time.kernel, name);
    time.benchmark = name;
    time.nanoseconds = positive(one.at("real_time")) * nanoseconds_of(one.at("time_unit"));
    time.of_ceiling = positive(one.at("of_ceiling"));
    times.push_back(std::move(time));
  }
  if (times.empty())
    json.at("benchmarks").refuse("no bench tells of_ceiling, as parity_bench does");
  return times;
}

}  // namespace parity
