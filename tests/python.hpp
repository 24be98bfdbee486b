// A Python for tests that need one.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

namespace parity::test {

struct Python {
  std::string command;  ///< empty where there is none
  std::string missing;  ///< the Debian package that the system's own python3 lacks
};

/// `python -c CODE` succeeds.
inline bool python_runs(const std::string& python, const std::string& code) {
  return std::system((python + " -c '" + code + "' >/dev/null 2>&1").c_str()) == 0;
}

/// A python3 that imports all `modules`, each of the package python3-<module>.
inline Python find_python(const std::vector<std::string>& modules) {
  std::string imports = "import sys";
  for (const std::string& module : modules) imports += ", " + module;
  for (const std::string command : {"python3", "/usr/bin/python3"})
    if (python_runs(command, imports)) return {command, ""};
  for (const std::string& module : modules)
    if (!python_runs("/usr/bin/python3", "import " + module)) return {"", "python3-" + module};
  return {"", "python3"};
}

}  // namespace parity::test
