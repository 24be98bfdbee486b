// Which cases run: suites and filters.
#include "harness/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "datasets/errors.hpp"
#include "harness/pairwise.hpp"

namespace parity {
namespace {

Case case_of(const KernelSpec& spec, const Combination& combination) {
  Case c{.spec = &spec, .dtypes = {}, .constants = {}, .recipe = {}};
  std::size_t axis = 0;
  for (const DtypeAxis& dtypes : spec.dtypes)
    c.dtypes.push_back(dtypes.values[combination[axis++]]);
  for (const ConstantAxis& constants : spec.constants)
    c.constants.push_back(constants.values[combination[axis++]]);
  c.recipe = spec.recipes[combination[axis]];
  return c;
}

std::vector<Case> pairwise_cases(const KernelSpec& spec) {
  std::vector<std::size_t> sizes;
  for (const DtypeAxis& axis : spec.dtypes) sizes.push_back(axis.values.size());
  for (const ConstantAxis& axis : spec.constants) sizes.push_back(axis.values.size());
  sizes.push_back(spec.recipes.size());
  std::vector<Case> cases;
  for (const Combination& combination : pairwise(sizes, [&](const Combination& candidate) {
         return !spec.valid || spec.valid(case_of(spec, candidate));
       }))
    cases.push_back(case_of(spec, combination));
  return cases;
}

bool matches(const std::string& pattern, const std::string& id) {
  const int result = ::fnmatch(pattern.c_str(), id.c_str(), 0);
  if (result != 0 && result != FNM_NOMATCH)
    throw UsageError(fmt::format("filter '{}' is not a pattern that fnmatch understands", pattern));
  return result == 0;
}

}  // namespace

Suite parse_suite(std::string_view text) {
  if (text == "smoke") return Suite::smoke;
  if (text == "full") return Suite::full;
  throw UsageError(fmt::format("no suite is called '{}'; known: smoke, full", text));
}

std::vector<Case> suite_cases(std::span<const KernelSpec> kernels, Suite suite) {
  std::vector<Case> cases;
  std::set<std::string> taken;
  const auto take = [&](Case c) {
    if (taken.insert(c.id()).second) cases.push_back(std::move(c));
  };
  for (const KernelSpec& spec : kernels)
    for (const std::string& id : spec.smoke) take(parse_case(kernels, id));
  if (suite == Suite::smoke) return cases;
  for (const KernelSpec& spec : kernels)
    for (Case& c : pairwise_cases(spec)) take(std::move(c));
  return cases;
}

std::vector<Case> select(std::vector<Case> cases, const std::vector<std::string>& patterns) {
  std::vector<std::string> wanted;
  std::vector<std::string> unwanted;
  for (const std::string& pattern : patterns) {
    if (pattern.starts_with('!'))
      unwanted.push_back(pattern.substr(1));
    else
      wanted.push_back(pattern);
  }
  const auto any = [](const std::vector<std::string>& list, const std::string& id) {
    return std::any_of(list.begin(), list.end(), [&](const auto& p) { return matches(p, id); });
  };
  const std::size_t before = cases.size();
  std::erase_if(cases, [&](const Case& c) {
    const std::string id = c.id();
    return (!wanted.empty() && !any(wanted, id)) || any(unwanted, id);
  });
  if (cases.empty())
    throw UsageError(fmt::format(
        "no case is selected: none of {} matches the filter '{}'; `harness list` prints the ids",
        before, fmt::join(patterns, "' '")));
  return cases;
}

}  // namespace parity
