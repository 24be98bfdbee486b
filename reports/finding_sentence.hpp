// A finding as one sentence, with letters for its cases.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/finding.hpp"

namespace parity {

/// Letter and id of each distinct case of the finding's sequence, in order of first appearance: A,
/// B, ... A sequence that is empty counts as the victim alone.
std::vector<std::pair<std::string, std::string>> sequence_labels(const Finding& finding);

/// "A then B: B differs, relative error 1.7e4 (tolerance 1e-05); leaked: module_cache[...], built
/// for k=f16, used for k=f32 [confirmed]"
std::string finding_sentence(const Finding& finding);

/// The entries of two lists "q=f32,k=f16" that differ, by axis: {"k=f16", "k=f32"}. Both whole
/// where they do not have the same axes or do not differ.
std::pair<std::string, std::string> differing_entries(std::string_view built_for,
                                                      std::string_view used_for);

/// Two significant digits, as a person writes them: "1.7e4", "0.31", "1e-05", "nan", "inf".
std::string short_number(double value);

/// Words for finding.also: they fail after one or another, not each after this finding's.
std::string_view other_victims(const Finding& finding);

/// "3 cases", "1 case".
std::string plural(std::size_t count, std::string_view noun);

}  // namespace parity
