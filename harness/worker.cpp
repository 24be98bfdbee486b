// The built-in worker: one request, one reply, until it is told to go.
#include "harness/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>

#include "datasets/errors.hpp"
#include "harness/protocol.hpp"
#include "harness/worker_session.hpp"

namespace parity {
namespace {

/// Requests and replies on descriptors of their own, so that neither a kernel's prints nor a
/// compiler started from here can touch them; where they were, there is nothing now.
class Channel {
 public:
  Channel()
      : requests_(fdopen(fcntl(0, F_DUPFD_CLOEXEC, 10), "r")),
        replies_(fcntl(kReplyDescriptor, F_DUPFD_CLOEXEC, 10)) {
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nothing, 0);
    dup2(nothing, kReplyDescriptor);
    close(nothing);
    if (requests_ == nullptr)
      throw DeviceError("the worker has no standard input to be asked through");
  }
  ~Channel() {
    std::fclose(requests_);
    close(replies_);
    std::free(line_);
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Nothing at the end of input.
  std::optional<std::string> read() {
    const ssize_t length = getline(&line_, &capacity_, requests_);
    if (length <= 0) return std::nullopt;
    return std::string(line_,
                       static_cast<std::size_t>(line_[length - 1] == '\n' ? length - 1 : length));
  }

  /// Throws DeviceError when nobody reads.
  void write(std::string line) {
    line += '\n';
    std::size_t written = 0;
    while (written < line.size()) {
      const ssize_t count = ::write(replies_, line.data() + written, line.size() - written);
      if (count < 0 && errno != EINTR) {
        throw DeviceError(fmt::format("the worker cannot answer: {}", std::strerror(errno)));
      }
      if (count > 0) written += static_cast<std::size_t>(count);
    }
  }

 private:
  std::FILE* requests_;
  int replies_;
  char* line_ = nullptr;
  std::size_t capacity_ = 0;
};

WorkerSession& require(std::optional<WorkerSession>& session) {
  if (session) return *session;
  throw UsageError("this request comes before hello; say hello first");
}

std::string greet(const Hello& hello, std::optional<WorkerSession>& session) {
  if (session) throw UsageError("hello was said before; start a fresh worker");
  session.emplace(hello);
  return hello_reply(session->introduction());
}

/// The reply. Throws what the request ran into.
std::string serve(const Request& request, std::optional<WorkerSession>& session) {
  if (request.op == "hello") return greet(request.hello, session);
  if (request.op == "bye") {
    if (session) session->keep_tuned();
    return done_reply();
  }
  WorkerSession& known = require(session);
  if (request.op == "describe") return describe_reply(known.describe(request.id));
  if (request.op == "prepare") return prepare_reply(known.prepare(request.id));
  if (request.op == "snapshot") return snapshot_reply(known.snapshot(request.carrier));
  if (request.op == "run") return run_reply(known.run({request.id, request.poison}));
  if (request.op == "together") return together_reply(known.together(request.runs));
  if (request.op == "restore") known.restore(request.carrier);
  if (request.op == "set") known.set(request.carrier, request.state);
  return done_reply();
}

/// The whole of it (a compiler's log) is for the log; one line is for the parent.
std::string failed_reply(const std::string& words, std::optional<WorkerSession>& session,
                         const std::string& op) {
  std::cerr << words << std::endl;
  const std::string line = words.substr(0, words.find('\n'));
  if (!session || (op != "run" && op != "together")) return failure_reply(line);
  // A sticky device error would fail all that follows: it ends this process instead, from here.
  session->require_sound_device();
  if (op == "together") return failure_reply(line);
  Outcome outcome;
  outcome.status = Status::error;
  outcome.detail = line;
  return run_reply(outcome);
}

}  // namespace

int run_worker() {
  if (fcntl(kReplyDescriptor, F_GETFD) < 0) {
    std::cerr
        << "harness worker is started and spoken to by the harness (harness/PROTOCOL.md): requests "
           "on stdin, replies on descriptor "
        << kReplyDescriptor << ", which is not open\n";
    return 5;
  }
  Channel channel;
  std::optional<WorkerSession> session;
  while (const std::optional<std::string> line = channel.read()) {
    Request request;
    std::string reply;
    std::optional<std::string> failure;
    try {
      request = parse_request(*line);
      reply = serve(request, session);
    } catch (const std::exception& error) {
      failure = error.what();
    }
    if (failure) reply = failed_reply(*failure, session, request.op);
    channel.write(reply);
    if (request.op == "bye") break;
  }
  return 0;
}

}  // namespace parity
