// The text form of a variant's key, and its inverse.
#include "device/variant.hpp"

#include <fmt/format.h>

#include <charconv>

#include "datasets/errors.hpp"

namespace parity {
namespace {

std::string join(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ","));
}

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw UsageError(fmt::format(
      "'{}' is no module key: {}; expected kernel<NAME=1,...>(name=f32,...)", text, what));
}

/// Calls `add(name, value)` for each item of "a=1,b=2".
template <typename Add>
void for_each_item(std::string_view whole, std::string_view list, Add add) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view item = list.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      refuse(whole, fmt::format("'{}' is not NAME=VALUE", item));
    add(std::string(item.substr(0, equals)), item.substr(equals + 1));
    begin = end + 1;
  }
}

/// Takes "<...>" off the front of `rest`; empty when it does not open with `open`.
std::string_view take_list(std::string_view whole, std::string_view& rest, char open, char close) {
  if (!rest.starts_with(open)) return {};
  const std::size_t end = rest.find(close);
  if (end == std::string_view::npos) refuse(whole, fmt::format("'{}' is not closed", open));
  const std::string_view list = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return list;
}

std::int64_t parse_integer(std::string_view whole, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    refuse(whole, fmt::format("'{}' is not an integer", text));
  return value;
}

}  // namespace

std::string VariantSpec::dtype_text() const {
  std::vector<std::string> items;
  for (const auto& [axis, dtype] : dtypes) items.push_back(fmt::format("{}={}", axis, name(dtype)));
  return join(items);
}

std::string VariantSpec::canonical() const {
  std::vector<std::string> items;
  for (const auto& [constant, value] : constants)
    items.push_back(fmt::format("{}={}", constant, value));
  std::string text = kernel;
  if (!constants.empty()) text += "<" + join(items) + ">";
  if (!dtypes.empty()) text += "(" + dtype_text() + ")";
  return text;
}

VariantSpec VariantSpec::parse(std::string_view canonical) {
  std::string_view rest = canonical;
  VariantSpec spec;
  spec.kernel = rest.substr(0, rest.find_first_of("<("));
  rest.remove_prefix(spec.kernel.size());
  if (spec.kernel.empty()) refuse(canonical, "it names no kernel");
  const std::string_view constants = take_list(canonical, rest, '<', '>');
  const std::string_view dtypes = take_list(canonical, rest, '(', ')');
  if (!constants.empty())
    for_each_item(canonical, constants, [&](std::string axis, std::string_view value) {
      spec.constants.emplace_back(std::move(axis), parse_integer(canonical, value));
    });
  if (!dtypes.empty())
    for_each_item(canonical, dtypes, [&](std::string axis, std::string_view value) {
      spec.dtypes.emplace_back(std::move(axis), parse_dtype(value));
    });
  // One spelling only: an empty list, a leading zero or text left over would make two keys of one.
  if (const std::string spelt = spec.canonical(); spelt != canonical)
    refuse(canonical, fmt::format("it would be spelt '{}'", spelt));
  return spec;
}

}  // namespace parity
