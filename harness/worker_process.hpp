// One worker process: started, spoken to with time limits, and never outliving its parent.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace parity {

struct WorkerCommand {
  /// Run as `sh -c "exec COMMAND"` in its own process group with an allow-listed environment (PATH,
  /// HOME, LD_LIBRARY_PATH, TMPDIR, CUDA_VISIBLE_DEVICES, CXX, PARITY_CACHE_BYTES, ASAN_OPTIONS,
  /// UBSAN_OPTIONS, TSAN_OPTIONS, LSAN_OPTIONS).
  std::string command;
  std::filesystem::path log;  ///< stderr and stdout are appended here
  /// Ctrl-C, where there is one: a request that waits then gets at most another second.
  const std::atomic<bool>* interrupted = nullptr;
};

/// A reply longer than this without its newline is the end of the worker.
inline constexpr std::size_t kLongestReply = std::size_t{64} << 20;

/// How a request ended; stopped: it was interrupted and had no answer in time.
struct Reply {
  enum class Kind { answered, died, timed_out, stopped };
  Kind kind = Kind::died;
  std::string line;  ///< answered: the reply
  /// died: "signal 11 (Segmentation fault)", "exit status 3", "flooded ...", then ": " and the last
  /// line that this process logged, if any.
  std::string detail;
};

/// How a worker took its leave.
struct Farewell {
  std::string reply;                   ///< its line, empty where none came
  std::optional<std::string> bad_end;  ///< in the words of Reply::detail; nothing: it ended well
};

/// The process is killed when the *thread* that made it ends (Linux counts a parent's death by
/// thread), so make, use and destroy it in one thread.
class WorkerProcess {
 public:
  /// Throws DeviceError when it cannot be started. A command that is not there starts, and dies at
  /// the first request with the shell's words.
  explicit WorkerProcess(const WorkerCommand& command);
  /// Kills the whole process group. An empty log is removed.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Writes the line and waits for one line. After any but answered the process is gone.
  Reply request(std::string_view line, std::chrono::milliseconds limit);

  /// Says a last line, closes the worker's input and lets it end by itself, for at most `limit`;
  /// then it is killed, which is no bad end, and neither is exit status 0.
  Farewell finish(std::string_view line, std::chrono::milliseconds limit);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parity
