// Reading of /proc/cpuinfo.
#include "device/host_cpu.hpp"

#include <sys/utsname.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace parity {
namespace {

/// The value of the first line "key : value", or nothing.
std::string first_value(const std::string& cpuinfo, std::string_view key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    if (line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

}  // namespace

HostCpu parse_host_cpu(const std::string& cpuinfo, const std::string& machine) {
  HostCpu cpu{
      .model = first_value(cpuinfo, "model name"), .architecture = machine, .compiler_options = {}};
  if (cpu.model.empty()) cpu.model = machine + " CPU";
  if (machine != "x86_64") return cpu;
  const std::string flags = " " + first_value(cpuinfo, "flags") + " ";
  for (const std::string feature : {"avx2", "fma", "f16c"}) {
    if (flags.find(" " + feature + " ") == std::string::npos) continue;
    cpu.architecture += "+" + feature;
    cpu.compiler_options.push_back("-m" + feature);
  }
  return cpu;
}

HostCpu read_host_cpu() {
  std::ostringstream text;
  text << std::ifstream("/proc/cpuinfo").rdbuf();
  utsname system{};
  uname(&system);
  return parse_host_cpu(text.str(), system.machine);
}

}  // namespace parity
