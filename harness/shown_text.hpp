// Text from anywhere, as a person may be shown it: nothing in it moves a cursor or breaks a line.
#pragma once

#include <string>
#include <string_view>

namespace parity {

bool is_utf8(std::string_view text);

/// A name on one line, whatever it holds: control characters, bytes that are not UTF-8, and the
/// backslash that shows them, as \xHH.
std::string shown(std::string_view name);

/// The same of a whole message, in which a backslash is left as it is: commands in it are to be
/// pasted.
std::string shown_line(std::string_view message);

/// The same of a text of several lines, which stay.
std::string shown_lines(std::string_view text);

}  // namespace parity
