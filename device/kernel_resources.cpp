// Reads ptxas's report: for each entry function a line with its frame and spills, and a line with
// its registers and shared memory. Functions that were not inlined have the first line only.
#include "device/kernel_resources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "datasets/errors.hpp"

namespace parity {
namespace {

/// The number in front of `unit`: 12 for "Used 12 registers, ..." and " registers".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t end = line.find(unit);
  if (end == std::string_view::npos) return std::nullopt;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, value);
  if (error != std::errc{} || stop != line.data() + end) return std::nullopt;
  return value;
}

void raise(std::int64_t& worst, std::string_view line, std::string_view unit) {
  worst = std::max(worst, number_before(line, unit).value_or(0));
}

}  // namespace

KernelResources read_ptxas_report(std::string_view log) {
  KernelResources worst;
  int entries = 0;
  int frames = 0;
  int registers = 0;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    begin = end + 1;
    entries += line.find("Compiling entry function") != std::string_view::npos;
    if (number_before(line, " bytes stack frame")) {
      ++frames;
      raise(worst.stack_bytes, line, " bytes stack frame");
      raise(worst.spill_stores, line, " bytes spill stores");
      raise(worst.spill_loads, line, " bytes spill loads");
    }
    if (line.find("Used ") != std::string_view::npos && number_before(line, " registers")) {
      ++registers;
      raise(worst.registers, line, " registers");
      raise(worst.shared_bytes, line, " bytes smem");
      raise(worst.stack_bytes, line, " bytes cumulative stack size");
    }
  }
  if (entries == 0 || registers != entries || frames < entries)
    throw DeviceError(
        fmt::format("ptxas reported {} kernels, the frames of {} and the registers of {}: its "
                    "report has a form that is not known here",
                    entries, frames, registers));
  return worst;
}

}  // namespace parity
