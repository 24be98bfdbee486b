// Case ids: printing, strict parsing, and the seed that follows from a case's data part.
#include "harness/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr std::string_view kGrammar = "kernel/dtypes/constants/recipe";

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_=,./+-").find(c) != std::string_view::npos;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

template <typename Axes>
std::vector<std::string_view> names_of(const Axes& axes) {
  std::vector<std::string_view> names;
  for (const auto& axis : axes) names.push_back(axis.name);
  return names;
}

[[noreturn]] void malformed(std::string_view id, const std::string& why) {
  throw UsageError(fmt::format("case '{}': {}", id, why));
}

/// The values of "a=1,b=2", whose names must be `axes` in this order.
template <typename Axes>
std::vector<std::string_view> axis_values(std::string_view id, std::string_view segment,
                                          std::string_view what, const Axes& axes) {
  const std::string order = fmt::format("{}", fmt::join(names_of(axes), ","));
  std::vector<std::string_view> assignments;
  if (!segment.empty()) assignments = split(segment, ',');
  if (axes.empty() && !assignments.empty())
    malformed(id, fmt::format("this kernel has no {}, so that part must be empty; found '{}'", what,
                              segment));
  std::vector<std::string_view> values;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const std::size_t equals = assignments[i].find('=');
    if (equals == std::string_view::npos)
      malformed(id,
                fmt::format("'{}' is not name=value; the {} are {}", assignments[i], what, order));
    if (i >= axes.size() || assignments[i].substr(0, equals) != axes[i].name)
      malformed(id,
                fmt::format("'{}' does not stand where it should; the {} are {}, each once and in "
                            "this order",
                            assignments[i], what, order));
    values.push_back(assignments[i].substr(equals + 1));
  }
  if (values.size() < axes.size())
    malformed(id, fmt::format("no value for '{}'; the {} are {}, each once and in this order",
                              axes[values.size()].name, what, order));
  return values;
}

Dtype dtype_value(std::string_view id, const DtypeAxis& axis, std::string_view text) {
  std::vector<std::string_view> known;
  for (const Dtype dtype : axis.values) {
    if (name(dtype) == text) return dtype;
    known.push_back(name(dtype));
  }
  malformed(id, fmt::format("{}={} is unknown; {} is one of {}", axis.name, text, axis.name,
                            fmt::join(known, ", ")));
}

std::string constant_text(const ConstantAxis& axis, std::int64_t value) {
  return value == 0 && !axis.zero.empty() ? axis.zero : std::to_string(value);
}

std::int64_t constant_value(std::string_view id, const ConstantAxis& axis, std::string_view text) {
  if (!axis.zero.empty() && text == axis.zero) return 0;
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits_only = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (error != std::errc{} || stop != end || !digits_only || leading_zero)
    malformed(id, fmt::format("{}={} is not a whole number from 0 to 2^63-1 without leading zeros",
                              axis.name, text));
  if (value == 0 && !axis.zero.empty())
    malformed(id, fmt::format("{}=0 is written {}={}", axis.name, axis.name, axis.zero));
  return value;
}

std::string dtype_segment(const Case& c) {
  std::string text;
  for (std::size_t i = 0; i < c.dtypes.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", c.spec->dtypes[i].name, name(c.dtypes[i]));
  return text;
}

std::string constant_segment(const Case& c, bool with_schedule) {
  std::string text;
  for (std::size_t i = 0; i < c.constants.size(); ++i) {
    const ConstantAxis& axis = c.spec->constants[i];
    if (axis.schedule && !with_schedule) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name,
                        constant_text(axis, c.constants[i]));
  }
  return text;
}

/// Axes of `a` that `b` does not have with the same value.
template <typename Axes, typename Values>
int unmatched(const Axes& axes_a, const Values& a, const Axes& axes_b, const Values& b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool matched = false;
    for (std::size_t j = 0; j < b.size(); ++j)
      matched = matched || (axes_a[i].name == axes_b[j].name && a[i] == b[j]);
    count += matched ? 0 : 1;
  }
  return count;
}

}  // namespace

std::string Case::id() const {
  return fmt::format("{}/{}/{}/{}", spec->name, dtype_segment(*this), constant_segment(*this, true),
                     recipe);
}

Dtype Case::dtype(std::string_view axis) const {
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (spec->dtypes[i].name == axis) return dtypes[i];
  throw UsageError(fmt::format("{} has no dtype axis '{}'; it has {}", spec->name, axis,
                               fmt::join(names_of(spec->dtypes), ", ")));
}

std::int64_t Case::constant(std::string_view axis) const {
  for (std::size_t i = 0; i < constants.size(); ++i)
    if (spec->constants[i].name == axis) return constants[i];
  throw UsageError(fmt::format("{} has no constant '{}'; it has {}", spec->name, axis,
                               fmt::join(names_of(spec->constants), ", ")));
}

std::uint64_t Case::data_seed() const {
  return stable_hash(fmt::format("{}/{}/{}/{}", spec->operation, dtype_segment(*this),
                                 constant_segment(*this, false), recipe));
}

bool Case::degenerate() const {
  const auto& list = spec->degenerate_recipes;
  return std::find(list.begin(), list.end(), recipe) != list.end();
}

Case parse_case(std::span<const KernelSpec> kernels, std::string_view id) {
  if (!std::all_of(id.begin(), id.end(), is_id_character)) {
    std::string shown(id);  // on one line, whatever was typed
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    malformed(shown, "an id holds only letters, digits and _=,./+-");
  }
  const std::vector<std::string_view> parts = split(id, '/');
  if (parts.size() != 4)
    malformed(id, fmt::format("an id is {}: four parts, found {}", kGrammar, parts.size()));
  const auto spec = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const KernelSpec& kernel) { return kernel.name == parts[0]; });
  if (spec == kernels.end())
    malformed(id, fmt::format("no kernel is called '{}'; known: {}", parts[0],
                              fmt::join(names_of(kernels), ", ")));
  Case result{.spec = &*spec, .dtypes = {}, .constants = {}, .recipe = std::string(parts[3])};
  const auto dtypes = axis_values(id, parts[1], "dtypes", spec->dtypes);
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    result.dtypes.push_back(dtype_value(id, spec->dtypes[i], dtypes[i]));
  const auto constants = axis_values(id, parts[2], "constants", spec->constants);
  for (std::size_t i = 0; i < constants.size(); ++i)
    result.constants.push_back(constant_value(id, spec->constants[i], constants[i]));
  const auto& recipes = spec->recipes;
  if (std::find(recipes.begin(), recipes.end(), result.recipe) == recipes.end())
    malformed(id, fmt::format("no recipe of {} is called '{}'; known: {}", spec->name,
                              result.recipe, fmt::join(recipes, ", ")));
  return result;
}

void require_valid(const Case& c) {
  if (c.spec->valid && !c.spec->valid(c))
    throw UsageError(fmt::format("case '{}': {} does not exist for this combination of values",
                                 c.id(), c.spec->name));
}

int distance(const Case& a, const Case& b) {
  const int constants =
      std::max(unmatched(a.spec->constants, a.constants, b.spec->constants, b.constants),
               unmatched(b.spec->constants, b.constants, a.spec->constants, a.constants));
  const int dtypes = std::max(unmatched(a.spec->dtypes, a.dtypes, b.spec->dtypes, b.dtypes),
                              unmatched(b.spec->dtypes, b.dtypes, a.spec->dtypes, a.dtypes));
  // Each weight exceeds all that the lesser ones can add up to (fewer than 100 axes of a sort).
  return (a.spec->name == b.spec->name ? 0 : 1'000'000) + constants * 1'000 +
         (a.recipe == b.recipe ? 0 : 100) + dtypes;
}

std::int64_t cost(const Case& c) {
  require_valid(c);
  std::size_t bytes = 0;
  for (const NamedTensor& input : c.spec->inputs(c)) bytes += input.tensor.type().bytes();
  for (const PackOutput& output : c.spec->outputs(c)) bytes += output.type.bytes();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace parity
