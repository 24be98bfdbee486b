// harness list and harness show.
#include "harness/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "harness/case.hpp"
#include "harness/judge.hpp"
#include "harness/session.hpp"

namespace parity {
int list_command(const Options& options) {
  for (const Case& c : select(suite_cases(registry(), options.suite), options.filters)) {
    if (options.cost)
      fmt::print("{:>12} {}\n", cost(c), c.id());
    else
      fmt::print("{}\n", c.id());
  }
  return 0;
}

int show_command(const Options& options) {
  const Case c = parse_case(registry(), options.cases.front());
  Session session(options, {c});
  const RunReport head = session.report();
  const PackCase& data = session.judge().pack_case(0);
  fmt::print(
      "{}\n  operation  {}\n  recipe     {}\n  seed       {:#018x}\n  backend    {} ({}, {})\n",
      c.id(), data.operation, data.recipe, data.seed, head.backend, head.device_name,
      head.device_arch);
  for (const PackInput& input : data.inputs)
    fmt::print("  input      {:<18} {:<22} {}\n", input.name, input.type.to_string(),
               input.digest.hex());
  for (const PackOutput& output : data.outputs)
    fmt::print("  output     {:<18} {:<22} tolerance {}\n", output.name, output.type.to_string(),
               tolerance_of(output));
  session.compile();
  for (const ModuleDescription& module : session.supervisor().describe(0))
    fmt::print("  module     {}\n  source     {}\n", module.key, module.source_path);
  return 0;
}

}  // namespace parity
