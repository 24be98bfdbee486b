// Text broken at spaces to the width of a page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace parity {

/// Columns of a line.
inline constexpr std::size_t kPageWidth = 100;

/// `lead` and `text` with line breaks at spaces and a newline at the end; later lines are indented
/// by the length of `lead`. A word longer than a line (an id) stands whole on its own.
std::string wrapped(std::string_view lead, std::string_view text);

}  // namespace parity
