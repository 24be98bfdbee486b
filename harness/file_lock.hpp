// Locks on whole files. One belongs to the open file that took it, and ends with it, however its
// process ends.
#pragma once

#include <cstdint>
#include <filesystem>

#include "harness/child_process.hpp"

namespace parity {

enum class Lock : std::uint8_t { shared, exclusive };

/// `failed`: not for another's lock; errno says why (a file system without locks).
enum class Locked : std::uint8_t { by_us, by_another, failed };

/// Waits for nobody. `exclusive` needs a file that is open for writing, `shared` for reading.
Locked try_lock(const Descriptor& file, Lock lock);

/// Waits until nobody is in the way. False as Locked::failed.
bool wait_for_lock(const Descriptor& file, Lock lock);

/// A shared lock on `path`, made where it is missing, once nobody is in the way; open as long as
/// the lock is held. Holds nothing where that cannot be had (errno says why): a file system without
/// locks, a folder that cannot be written.
Descriptor hold_shared(const std::filesystem::path& path);

/// Whether another open file holds one. Takes nothing, not even for a moment, so that it is in
/// nobody's way.
bool locked_by_another(const Descriptor& file);

}  // namespace parity
