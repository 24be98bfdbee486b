// Whether the files that a command is to write can be written.
#pragma once

#include <filesystem>
#include <string_view>

namespace parity {

/// A file that cannot be written at the end would lose the run: tries it at the start. Throws
/// UsageError naming the option.
void check_writable(std::string_view option, const std::filesystem::path& path);

}  // namespace parity
