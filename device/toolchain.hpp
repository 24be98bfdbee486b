// A compiler of kernel text. One text, two of these: NVRTC for a GPU, the system's C++ compiler for
// the host backend.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/errors.hpp"
#include "device/variant.hpp"

namespace parity {

/// The text was refused by the compiler; carries the full log and the rendered source's path.
class CompileError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// The first line of a compiler's log that speaks of an error, else its first line that is not
/// empty.
std::string first_error(std::string_view log);

class Toolchain {
 public:
  virtual ~Toolchain() = default;
  virtual const ToolchainIdentity& identity() const = 0;
  /// ".cubin", ".so"
  virtual std::string image_suffix() const = 0;
  /// Compiles `source` (a file with the rendered text). Thread-safe. Throws CompileError.
  virtual std::vector<std::byte> compile(const std::string& text,
                                         const std::string& source_path) const = 0;
};

/// The system compiler ($CXX, else c++, else g++; resolved through PATH). Throws DeviceError
/// without one.
std::unique_ptr<Toolchain> make_host_toolchain();

/// NVRTC for "sm_90a"-like architectures. Throws DeviceError in a build without CUDA.
std::unique_ptr<Toolchain> make_nvrtc_toolchain(const std::string& architecture);

}  // namespace parity
