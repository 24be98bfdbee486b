// Case ids: printing, strict parsing, and the seed that follows from a case's data part.
#include "harness/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "harness/shown_text.hpp"

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

bool can_be_left_out(const DtypeAxis& axis) {
  return !axis.same_as.empty();
}
bool can_be_left_out(const ConstantAxis& axis) {
  return axis.usual.has_value();
}

/// "x,w, each once and in this order"; axes that may be left out stand in brackets.
template <typename Axes>
std::string order_of(const Axes& axes) {
  std::vector<std::string> names;
  for (const auto& axis : axes)
    names.push_back(can_be_left_out(axis) ? fmt::format("[{}]", axis.name) : axis.name);
  return fmt::format("{}, each once and in this order", fmt::join(names, ","));
}

/// The value of each axis in "a=1,b=2", whose names must be `axes` in this order; nothing for one
/// that is left out.
template <typename Axes>
std::vector<std::optional<std::string_view>> axis_values(std::string_view id,
                                                         std::string_view segment,
                                                         std::string_view what, const Axes& axes) {
  std::vector<std::string_view> assignments;
  if (!segment.empty()) assignments = split(segment, ',');
  if (axes.empty() && !assignments.empty())
    malformed(id, fmt::format("this kernel has no {}, so that part must be empty; found '{}'", what,
                              segment));
  std::vector<std::optional<std::string_view>> values(axes.size());
  std::size_t axis = 0;
  for (const std::string_view assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos)
      malformed(id, fmt::format("'{}' is not name=value; the {} are {}", assignment, what,
                                order_of(axes)));
    const std::string_view found = assignment.substr(0, equals);
    while (axis < axes.size() && axes[axis].name != found && can_be_left_out(axes[axis])) ++axis;
    if (axis == axes.size() || axes[axis].name != found)
      malformed(id, fmt::format("'{}' does not stand where it should; the {} are {}", assignment,
                                what, order_of(axes)));
    values[axis++] = assignment.substr(equals + 1);
  }
  for (; axis < axes.size(); ++axis)
    if (!can_be_left_out(axes[axis]))
      malformed(id, fmt::format("no value for '{}'; the {} are {}", axes[axis].name, what,
                                order_of(axes)));
  return values;
}

[[noreturn]] void usual_value_written(std::string_view id, std::string_view axis,
                                      std::string_view text) {
  malformed(id, fmt::format("{}={} is what leaving {} out says; leave it out", axis, text, axis));
}

/// The dtype of the axis that this one usually follows.
Dtype usual_dtype(const KernelSpec& spec, const DtypeAxis& axis, const std::vector<Dtype>& dtypes) {
  for (std::size_t i = 0; i < dtypes.size(); ++i)
    if (spec.dtypes[i].name == axis.same_as) return dtypes[i];
  throw UsageError(fmt::format("{}: dtype {} follows '{}', which is no dtype axis before it",
                               spec.name, axis.name, axis.same_as));
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

bool has_word(const ConstantAxis& axis, std::int64_t value) {
  // Unsigned, since a difference of two numbers of 64 bits may need 65.
  return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(axis.first_word) <
         axis.words.size();
}

std::string constant_text(const ConstantAxis& axis, std::int64_t value) {
  return has_word(axis, value) ? axis.words[static_cast<std::size_t>(value - axis.first_word)]
                               : std::to_string(value);
}

std::int64_t constant_value(std::string_view id, const ConstantAxis& axis, std::string_view text) {
  const auto word = std::ranges::find(axis.words, text);
  if (word != axis.words.end()) return axis.first_word + (word - axis.words.begin());
  if (std::ranges::all_of(axis.values, [&](std::int64_t v) { return has_word(axis, v); }))
    malformed(id, fmt::format("{}={} is unknown; {} is one of {}", axis.name, text, axis.name,
                              fmt::join(axis.words, ", ")));
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool digits_only = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (error != std::errc{} || stop != end || !digits_only || leading_zero)
    malformed(id, fmt::format("{}={} is not a whole number from 0 to 2^63-1 without leading zeros",
                              axis.name, text));
  if (has_word(axis, value))
    malformed(id, fmt::format("{}={} is written {}={}", axis.name, value, axis.name,
                              constant_text(axis, value)));
  return value;
}

std::vector<Dtype> dtypes_of(std::string_view id, const KernelSpec& spec,
                             std::string_view segment) {
  const auto texts = axis_values(id, segment, "dtypes", spec.dtypes);
  std::vector<Dtype> dtypes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const DtypeAxis& axis = spec.dtypes[i];
    if (!can_be_left_out(axis)) {
      dtypes.push_back(dtype_value(id, axis, *texts[i]));
      continue;
    }
    const Dtype usual = usual_dtype(spec, axis, dtypes);
    if (texts[i] == name(usual)) usual_value_written(id, axis.name, *texts[i]);
    dtypes.push_back(texts[i] ? dtype_value(id, axis, *texts[i]) : usual);
  }
  return dtypes;
}

std::vector<std::int64_t> constants_of(std::string_view id, const KernelSpec& spec,
                                       std::string_view segment) {
  const auto texts = axis_values(id, segment, "constants", spec.constants);
  std::vector<std::int64_t> constants;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ConstantAxis& axis = spec.constants[i];
    constants.push_back(texts[i] ? constant_value(id, axis, *texts[i]) : *axis.usual);
    if (texts[i] && constants.back() == axis.usual) usual_value_written(id, axis.name, *texts[i]);
  }
  return constants;
}

std::string constant_segment(const Case& c, bool with_schedule) {
  std::string text;
  for (std::size_t i = 0; i < c.constants.size(); ++i) {
    const ConstantAxis& axis = c.spec->constants[i];
    if (axis.schedule && !with_schedule) continue;
    if (axis.usual == c.constants[i]) continue;
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
  return fmt::format("{}/{}/{}/{}", spec->name, dtype_text(), constant_segment(*this, true),
                     recipe);
}

std::string Case::dtype_text() const {
  std::string text;
  for (std::size_t i = 0; i < dtypes.size(); ++i) {
    const DtypeAxis& axis = spec->dtypes[i];
    if (can_be_left_out(axis) && dtypes[i] == dtype(axis.same_as)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", axis.name, name(dtypes[i]));
  }
  return text;
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
  return stable_hash(fmt::format("{}/{}/{}/{}", spec->operation, dtype_text(),
                                 constant_segment(*this, false), recipe));
}

bool Case::degenerate() const {
  const auto& list = spec->degenerate_recipes;
  return std::find(list.begin(), list.end(), recipe) != list.end();
}

Case parse_case(std::span<const KernelSpec> kernels, std::string_view id) {
  if (!std::all_of(id.begin(), id.end(), is_id_character))
    malformed(shown(id), "an id holds only letters, digits and _=,./+-");
  const std::vector<std::string_view> parts = split(id, '/');
  if (parts.size() != 4)
    malformed(id, fmt::format("an id is {}: four parts, found {}", kGrammar, parts.size()));
  const auto spec = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const KernelSpec& kernel) { return kernel.name == parts[0]; });
  if (spec == kernels.end())
    malformed(id, fmt::format("no kernel is called '{}'; known: {}", parts[0],
                              fmt::join(names_of(kernels), ", ")));
  Case result{.spec = &*spec, .dtypes = {}, .constants = {}, .recipe = std::string(parts[3])};
  result.dtypes = dtypes_of(id, *spec, parts[1]);
  result.constants = constants_of(id, *spec, parts[2]);
  const auto& recipes = spec->recipes;
  if (std::find(recipes.begin(), recipes.end(), result.recipe) == recipes.end())
    malformed(id, fmt::format("no recipe of {} is called '{}'; known: {}", spec->name,
                              result.recipe, fmt::join(recipes, ", ")));
  return result;
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

}  // namespace parity
