// Whether values form a case, and how large it is.
#include <fmt/format.h>

#include "datasets/errors.hpp"
#include "harness/case.hpp"

namespace parity {
namespace {

std::int64_t bytes_of(const Case& c) {
  std::size_t bytes = 0;
  if (c.spec->input_types)
    for (const InputType& input : c.spec->input_types(c)) bytes += input.type.bytes();
  else
    for (const NamedTensor& input : c.spec->inputs(c)) bytes += input.tensor.type().bytes();
  for (const PackOutput& output : c.spec->outputs(c)) bytes += output.type.bytes();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

void require_valid(const Case& c) {
  for (const Requirement& requirement : c.spec->requirements)
    if (!requirement.holds(c))
      throw UsageError(fmt::format("case '{}': {}", c.id(), requirement.text));
  if (!c.spec->input_types) return;
  const std::int64_t bytes = bytes_of(c);
  if (bytes > kMostCaseBytes)
    throw UsageError(fmt::format(
        "case '{}': its inputs and outputs have {} bytes, but may have {}; ask for smaller shapes",
        c.id(), bytes, kMostCaseBytes));
}

std::int64_t cost(const Case& c) {
  require_valid(c);
  return bytes_of(c);
}

}  // namespace parity
