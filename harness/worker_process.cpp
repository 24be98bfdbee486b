// The conversation with one worker process: a line out, a line in, each within a time limit.
#include "harness/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/child_process.hpp"
#include "harness/json_fields.hpp"

namespace parity {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array kAllowed = {"PATH",         "TMPDIR",
                                 "HOME",         "LD_LIBRARY_PATH",
                                 "CXX",          "PARITY_CACHE_BYTES",
                                 "ASAN_OPTIONS", "CUDA_VISIBLE_DEVICES",
                                 "TSAN_OPTIONS", "UBSAN_OPTIONS",
                                 "LSAN_OPTIONS"};
/// How often a silent worker is looked at: one that died while a child of its own holds descriptor
/// 3 gives no end of file.
constexpr int kLookMilliseconds = 50;
/// From the end of file on descriptor 3 to the end of the process.
constexpr std::chrono::seconds kLastBreath{2};
/// For the answer that a worker owes when the run is interrupted.
constexpr std::chrono::seconds kInterruptedLimit{1};
/// From the first request to being taken for a program that only repeats it.
constexpr std::chrono::seconds kEchoLimit{3};

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (const char* name : kAllowed) {
    const char* value = std::getenv(name);
    if (value != nullptr) out.push_back(fmt::format("{}={}", name, value));
  }
  return out;
}

Descriptor open_log(const std::filesystem::path& path) {
  const int low = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const Descriptor opened(low);
  const int number = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 10);
  if (number >= 0) return Descriptor(number);
  throw DeviceError(
      fmt::format("cannot write the worker's log {}: {}", path.string(), std::strerror(errno)));
}

void make_nonblocking(const Descriptor& descriptor) {
  fcntl(descriptor.number(), F_SETFL, fcntl(descriptor.number(), F_GETFL) | O_NONBLOCK);
}

/// Writes what goes in at once; all of it where nobody reads any more, for what the worker says or
/// how it ended then decides. A worker that is gone must not end the parent by SIGPIPE, and the
/// process's signal handlers are not ours to change.
std::size_t write_some(const Descriptor& descriptor, std::string_view bytes) {
  sigset_t only_pipe;
  sigemptyset(&only_pipe);
  sigaddset(&only_pipe, SIGPIPE);
  sigset_t pending;
  sigpending(&pending);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &only_pipe, &before);
  const ssize_t written = write(descriptor.number(), bytes.data(), bytes.size());
  const bool unread = written < 0 && errno == EPIPE;
  const bool raised = unread && sigismember(&pending, SIGPIPE) == 0;
  const timespec at_once = {};
  while (raised && sigtimedwait(&only_pipe, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (unread) return bytes.size();
  return written < 0 ? 0 : static_cast<std::size_t>(written);
}

/// The line of the log from `start` on that tells most: a sanitizer's summary, else the last.
std::string telling_line(const std::filesystem::path& log, std::uintmax_t start) {
  constexpr std::uintmax_t kTail = 1 << 16;
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(log, failed);
  if (failed || size <= start) return {};
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(std::max(start, size > kTail ? size - kTail : 0)));
  std::string best;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("SUMMARY: ")) return excerpt(line, 200);
    if (!one_line(line).empty()) best = line;
  }
  return excerpt(one_line(best), 200);
}

}  // namespace

struct WorkerProcess::Impl {
  std::filesystem::path log;
  std::uintmax_t log_start = 0;
  const std::atomic<bool>* interrupted = nullptr;
  Descriptor input;    ///< the worker's stdin
  Descriptor replies;  ///< the worker's descriptor 3
  std::string heard;   ///< read and not yet given out
  std::optional<ChildProcess> child;

  bool asked_before = false;

  enum class Heard { something, nothing, end };

  void start(const WorkerCommand& command);
  Heard listen();
  void wait(bool to_write, Clock::time_point deadline);
  Reply converse(std::string_view line, Clock::time_point deadline);
  bool only_echoed(std::string_view line) const;
  Reply answered(std::size_t newline);
  Reply died();
  std::string with_telling_line(std::string detail) const;
  Reply end(Reply::Kind kind, std::string detail);
};

void WorkerProcess::Impl::start(const WorkerCommand& command) {
  log = command.log;
  interrupted = command.interrupted;
  const Descriptor log_end = open_log(log);
  log_start = std::filesystem::file_size(log);
  Pipe to_worker = make_pipe();
  Pipe from_worker = make_pipe();
  child.emplace(command.command, environment(),
                ChildDescriptors{.input = to_worker.read_end.number(),
                                 .output = log_end.number(),
                                 .errors = log_end.number(),
                                 .replies = from_worker.write_end.number()});
  input = std::move(to_worker.write_end);
  replies = std::move(from_worker.read_end);
  make_nonblocking(input);
  make_nonblocking(replies);
}

WorkerProcess::Impl::Heard WorkerProcess::Impl::listen() {
  std::array<char, 1 << 16> chunk;
  const ssize_t count = read(replies.number(), chunk.data(), chunk.size());
  if (count == 0) return Heard::end;
  if (count < 0) return errno == EAGAIN || errno == EINTR ? Heard::nothing : Heard::end;
  heard.append(chunk.data(), static_cast<std::size_t>(count));
  return Heard::something;
}

void WorkerProcess::Impl::wait(bool to_write, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  std::array<pollfd, 2> polled = {pollfd{replies.number(), POLLIN, 0},
                                  pollfd{input.number(), POLLOUT, 0}};
  poll(polled.data(), to_write ? 2 : 1,
       static_cast<int>(std::clamp<decltype(left)>(left, 0, kLookMilliseconds)));
}

/// Whether the request, with its newline, is all that the log holds of this worker.
bool WorkerProcess::Impl::only_echoed(std::string_view line) const {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(log, failed);
  if (failed || size != log_start + line.size()) return false;
  std::ifstream in(log, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(log_start));
  std::string written(line.size(), '\0');
  in.read(written.data(), static_cast<std::streamsize>(written.size()));
  return in && written == line;
}

Reply WorkerProcess::Impl::converse(std::string_view line, Clock::time_point deadline) {
  listen();
  if (!heard.empty()) {
    return end(Reply::Kind::died,
               fmt::format("wrote a line that nobody asked for: '{}'", excerpt(heard)));
  }
  std::string_view unsaid = line;
  const bool first = !std::exchange(asked_before, true);
  const Clock::time_point echoes_from = Clock::now() + kEchoLimit;
  std::size_t searched = 0;
  Reply::Kind when_late = Reply::Kind::timed_out;
  while (true) {
    if (when_late != Reply::Kind::stopped && interrupted != nullptr && interrupted->load()) {
      when_late = Reply::Kind::stopped;
      deadline = std::min<Clock::time_point>(deadline, Clock::now() + kInterruptedLimit);
    }
    unsaid.remove_prefix(write_some(input, unsaid));
    const bool over =
        child->ended().has_value();  // asked first: what it wrote before is then there
    const Heard now = listen();
    const std::size_t newline = heard.find('\n', searched);
    searched = heard.size();
    if (newline != std::string::npos) return answered(newline);
    if (heard.size() > kLongestReply) {
      return end(Reply::Kind::died, fmt::format("flooded descriptor 3: {} MiB without a newline",
                                                kLongestReply >> 20));
    }
    if (now == Heard::end || (over && now == Heard::nothing)) return died();
    if (Clock::now() >= deadline) return end(when_late, "");
    if (first && Clock::now() >= echoes_from && only_echoed(line))
      return end(Reply::Kind::died,
                 "it wrote the request to its standard output or error, and nothing else; a worker "
                 "answers on descriptor 3 (harness/PROTOCOL.md)");
    if (now == Heard::nothing) wait(!unsaid.empty(), deadline);
  }
}

Reply WorkerProcess::Impl::answered(std::size_t newline) {
  Reply reply;
  reply.kind = Reply::Kind::answered;
  reply.line = heard.substr(0, newline);
  heard.erase(0, newline + 1);
  return reply;
}

Reply WorkerProcess::Impl::died() {
  const auto how = child->wait(Clock::now() + kLastBreath);
  std::string detail = how.value_or("closed descriptor 3 and went on");
  if (!heard.empty()) detail += fmt::format(" in the middle of a line: '{}'", excerpt(heard));
  return end(Reply::Kind::died, with_telling_line(std::move(detail)));
}

std::string WorkerProcess::Impl::with_telling_line(std::string detail) const {
  const std::string told = telling_line(log, log_start);
  return told.empty() ? detail : detail + ": " + told;
}

Reply WorkerProcess::Impl::end(Reply::Kind kind, std::string detail) {
  child->kill();
  child.reset();
  return {.kind = kind, .line = {}, .detail = std::move(detail)};
}

WorkerProcess::WorkerProcess(const WorkerCommand& command) : impl_(std::make_unique<Impl>()) {
  impl_->start(command);
}

WorkerProcess::~WorkerProcess() {
  impl_->child.reset();
  std::error_code ignored;
  if (std::filesystem::file_size(impl_->log, ignored) == 0) {
    std::filesystem::remove(impl_->log, ignored);
  }
}

Reply WorkerProcess::request(std::string_view line, std::chrono::milliseconds limit) {
  if (!impl_->child) {
    return {.kind = Reply::Kind::died, .line = {}, .detail = "the worker had ended before"};
  }
  return impl_->converse(std::string(line) + '\n', Clock::now() + limit);
}

Farewell WorkerProcess::finish(std::string_view line, std::chrono::milliseconds limit) {
  if (!impl_->child) return {};
  const Clock::time_point deadline = Clock::now() + limit;
  write_some(impl_->input, std::string(line) + '\n');
  impl_->input.reset();
  const std::optional<std::string> how = impl_->child->wait(deadline);
  impl_->child.reset();
  while (impl_->heard.size() <= kLongestReply && impl_->listen() == Impl::Heard::something) {
  }
  Farewell farewell;
  if (const std::size_t newline = impl_->heard.find('\n'); newline != std::string::npos)
    farewell.reply = impl_->heard.substr(0, newline);
  if (how && *how != kEndedWell) farewell.bad_end = impl_->with_telling_line(*how);
  return farewell;
}

}  // namespace parity
