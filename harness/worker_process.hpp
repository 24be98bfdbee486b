// One worker process: started, spoken to with time limits, and never outliving its parent.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace parity {

struct WorkerCommand {
  /// Run as `sh -c "exec COMMAND"` in its own process group with an allow-listed environment (PATH, HOME,
  /// LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, CXX, ASAN_OPTIONS, UBSAN_OPTIONS, TSAN_OPTIONS, LSAN_OPTIONS).
  std::string command;
  std::filesystem::path log;  ///< stderr and stdout are appended here
};

/// How a request ended.
struct Reply {
  enum class Kind { answered, died, timed_out };
  Kind kind = Kind::died;
  std::string line;    ///< answered: the reply
  std::string detail;  ///< died: "signal 11 (Segmentation fault)", "exit status 3"
};

class WorkerProcess {
 public:
  /// Throws DeviceError when it cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);
  /// Kills the whole process group.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Writes the line and waits for one line. After died or timed_out the process is gone.
  Reply request(std::string_view line, std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parity
