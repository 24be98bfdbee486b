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

/// The axes of a spec in one row: dtypes, constants, recipe.
class Axes {
 public:
  explicit Axes(const KernelSpec& spec) : spec_(spec), recipes_(spec.recipes) {
    std::erase_if(recipes_, [&](const std::string& recipe) {
      return std::ranges::find(spec.uncombined_recipes, recipe) != spec.uncombined_recipes.end();
    });
    for (const DtypeAxis& axis : spec.dtypes) add(axis.name, axis.values.size());
    for (const ConstantAxis& axis : spec.constants) add(axis.name, axis.values.size());
    add("recipe", recipes_.size());
  }

  const std::vector<std::size_t>& sizes() const { return sizes_; }

  std::size_t number(const std::string& axis) const {
    const auto at = std::ranges::find(names_, axis);
    if (at == names_.end())
      throw UsageError(fmt::format("a requirement of {} reads '{}', which is none of its axes {}",
                                   spec_.name, axis, fmt::join(names_, ", ")));
    return static_cast<std::size_t>(at - names_.begin());
  }

  /// A case of first values.
  Case first() const {
    Case c{.spec = &spec_, .dtypes = {}, .constants = {}, .recipe = recipes_.front()};
    for (const DtypeAxis& axis : spec_.dtypes) c.dtypes.push_back(axis.values.front());
    for (const ConstantAxis& axis : spec_.constants) c.constants.push_back(axis.values.front());
    return c;
  }

  void set(Case& c, std::size_t axis, std::size_t value) const {
    if (axis < c.dtypes.size()) {
      c.dtypes[axis] = spec_.dtypes[axis].values[value];
      return;
    }
    const std::size_t constant = axis - c.dtypes.size();
    if (constant < c.constants.size())
      c.constants[constant] = spec_.constants[constant].values[value];
    else
      c.recipe = recipes_[value];
  }

 private:
  void add(const std::string& name, std::size_t size) {
    names_.push_back(name);
    sizes_.push_back(size);
  }

  const KernelSpec& spec_;
  std::vector<std::string> recipes_;
  std::vector<std::string> names_;
  std::vector<std::size_t> sizes_;
};

Constraint constraint_of(const Requirement& requirement, const Axes& axes) {
  Constraint constraint;
  for (const std::string& axis : requirement.axes) constraint.axes.push_back(axes.number(axis));
  constraint.holds = [&axes, &requirement, numbers = constraint.axes,
                      c = axes.first()](const Combination& combination) mutable {
    for (const std::size_t axis : numbers) axes.set(c, axis, combination[axis]);
    return requirement.holds(c);
  };
  return constraint;
}

std::vector<Case> pairwise_cases(const KernelSpec& spec) {
  const Axes axes(spec);
  if (std::ranges::find(axes.sizes(), std::size_t{0}) != axes.sizes().end()) return {};
  std::vector<Constraint> constraints;
  for (const Requirement& requirement : spec.requirements)
    constraints.push_back(constraint_of(requirement, axes));
  std::vector<Case> cases;
  for (const Combination& combination : pairwise(axes.sizes(), constraints)) {
    cases.push_back(axes.first());
    for (std::size_t axis = 0; axis < combination.size(); ++axis)
      axes.set(cases.back(), axis, combination[axis]);
  }
  return cases;
}

/// Every combination of dtypes that is a case, at the geometry of `like`.
std::vector<Case> dtype_cases(const Case& like) {
  std::vector<Case> cases = {like};
  for (std::size_t axis = 0; axis < like.dtypes.size(); ++axis) {
    std::vector<Case> wider;
    for (Case& c : cases)
      for (const Dtype dtype : like.spec->dtypes[axis].values) {
        wider.push_back(c);
        wider.back().dtypes[axis] = dtype;
      }
    cases = std::move(wider);
  }
  std::erase_if(cases, [](const Case& c) {
    return !std::ranges::all_of(c.spec->requirements,
                                [&](const Requirement& required) { return required.holds(c); });
  });
  return cases;
}

}  // namespace

bool matches(std::string_view pattern, const std::string& id) {
  const int result = ::fnmatch(std::string(pattern).c_str(), id.c_str(), 0);
  if (result != 0 && result != FNM_NOMATCH)
    throw UsageError(fmt::format("filter '{}' is not a pattern that fnmatch understands", pattern));
  return result == 0;
}

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
  for (const KernelSpec& spec : kernels) {
    for (const std::string& id : spec.published) take(parse_case(kernels, id));
    if (!spec.smoke.empty())
      for (Case& c : dtype_cases(parse_case(kernels, spec.smoke.front()))) take(std::move(c));
    for (Case& c : pairwise_cases(spec)) take(std::move(c));
  }
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
