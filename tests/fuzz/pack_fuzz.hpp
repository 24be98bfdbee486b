// Reads bytes as packs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace parity::fuzz {

/// Whether all could be read.
struct Seen {
  bool as_is = false;
  bool sealed = false;  ///< behind a user block that is right for the bytes, so that HDF5 sees them
};

/// Aborts where a message has several lines; throws what no reader of packs may throw.
Seen read_as_is_and_sealed(std::string_view bytes);

}  // namespace parity::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
