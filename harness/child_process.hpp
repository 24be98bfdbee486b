// A child process in a group of its own: started through the shell with chosen descriptors, ended
// with everything it started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace parity {

/// Owns a descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  int number() const { return number_; }
  void reset() noexcept;

 private:
  int number_ = -1;
};

/// Both ends close on exec and lie above the descriptors that a child's are mapped to.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};
/// Throws DeviceError.
Pipe make_pipe();

/// A copy above the descriptors that a child's are mapped to; it closes on exec. Throws
/// DeviceError.
Descriptor above_standard(int number);

/// What becomes the child's descriptors 0, 1, 2 and 3. Must be numbers from make_pipe or
/// above_standard.
struct ChildDescriptors {
  int input;
  int output;
  int errors;
  int replies;
};

/// What ended() says of success.
inline constexpr std::string_view kEndedWell = "exit status 0";

class ChildProcess {
 public:
  /// `environment`: "NAME=value" each. Throws DeviceError when the system refuses a process.
  ChildProcess(const std::string& command, const std::vector<std::string>& environment,
               const ChildDescriptors& descriptors);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// "exit status 3", "signal 11 (Segmentation fault)"; nothing while it runs.
  std::optional<std::string> ended() const;
  /// The same as a shell has it: the exit status, or 128 and the signal's number.
  std::optional<int> exit_code() const;
  /// Asks it to stop, as Ctrl-C does.
  void interrupt() const;
  /// Waits for its end until `deadline`.
  std::optional<std::string> wait(std::chrono::steady_clock::time_point deadline) const;
  /// Kills the group, what the child started included, and takes the child's remains.
  void kill() noexcept;

 private:
  pid_t pid_ = 0;
};

}  // namespace parity
