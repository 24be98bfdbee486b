// Files that are there as a whole or as they were before.
#pragma once

#include <filesystem>
#include <string_view>

namespace parity {

/// Writes `bytes` under a temporary name beside `target`, syncs and renames. Throws
/// std::system_error; `target` is then as it was.
void replace_file(const std::filesystem::path& target, std::string_view bytes);

}  // namespace parity
