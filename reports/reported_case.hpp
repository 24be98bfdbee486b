// What reports ask of a case: the words of its id, and how far it is off.
#pragma once

#include <optional>
#include <string_view>

#include "harness/finding.hpp"

namespace parity {

/// Of a case id, as text: "paged_decode_v2", "q=bf16,k=f16,v=f16"; empty where it has none.
std::string_view kernel_of(std::string_view id);
std::string_view dtypes_of(std::string_view id);
/// "4" of ",ppc=4": the value of a constant; empty where there is none.
std::string_view constant_of(std::string_view id, std::string_view axis);

/// Error over tolerance of the case's worst output; infinite where no error was allowed. Nothing
/// where nothing was compared.
std::optional<double> of_tolerance(const CaseSummary& summary);

/// Of two errors, whether the first is worse, in the order of worse_error().
bool worse(double a, double b);

}  // namespace parity
