// What the host backend and its compiler need to know of the CPU.
#pragma once

#include <string>
#include <vector>

namespace parity {

struct HostCpu {
  std::string model;                          ///< "Intel(R) Xeon(R) Platinum 8481C"
  std::string architecture;                   ///< "x86_64+avx2+fma+f16c": with the features in use
  std::vector<std::string> compiler_options;  ///< that switch these features on
};

/// Reads /proc/cpuinfo; what it does not say is left out.
HostCpu read_host_cpu();

/// The same from a text in the format of /proc/cpuinfo.
HostCpu parse_host_cpu(const std::string& cpuinfo, const std::string& machine);

}  // namespace parity
