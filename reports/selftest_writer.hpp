// The table of harness selftest: for a person, row by row, and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "harness/selftest.hpp"

namespace parity {

/// "clean", "found"; "did not pass", "falsely accused", "named wrongly", "missed"; of a row that
/// was run. Whether it is as it must be says right().
std::string_view result_word(const SelftestRow& row);
/// Found with all that was expected, and no worker error.
bool right(const SelftestRow& row);

/// One line each, ending in a newline. A row that is not as it must be has a second line that says
/// why.
std::string selftest_heading();
std::string selftest_line(const SelftestRow& row);
/// "22 of 22 plants found, 22 exactly named; 0 false accusations"; before it, what was missed and
/// how to see it again.
std::string selftest_summary(const SelftestReport& report);

/// Schema parity.selftest/1. Seconds are left out; the counts of plants that show by chance differ
/// from run to run, all else does not.
std::string selftest_json(const SelftestReport& report);

}  // namespace parity
