// Texts as words of a POSIX shell, so that a person can paste what is printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace parity {

/// `text` as one word.
std::string shell_quoted(std::string_view text);

/// A command line of these words.
std::string shell_quoted(const std::vector<std::string>& words);

}  // namespace parity
