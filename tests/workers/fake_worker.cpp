// A worker without kernels whose cases say what becomes of it: "fake/abort", "fake/hang", ...
// Started with a word, it misbehaves at hello or at its end.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "datasets/digest.hpp"
#include "harness/protocol.hpp"

namespace {

using parity::Outcome;
using parity::Request;
using parity::Status;

struct FakeWorker {
  std::string manner;             ///< argument: how it answers hello
  std::string folder;             ///< of hello: where it leaves notes
  std::vector<std::string> past;  ///< ids run in this process

  std::string serve(const Request& request);
  std::string hello(const Request& request);
  std::string run(const Request& request);
  std::string together(const Request& request);
};

void say(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(parity::kReplyDescriptor, text.data(), text.size());
    if (count <= 0) std::_Exit(9);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void wait_for_ever() {
  while (true) pause();
}

void note(const std::string& folder, const std::string& name, const std::string& line) {
  std::ofstream(std::filesystem::path(folder) / name, std::ios::app) << line << "\n";
}

int lines_of(const std::string& folder, const std::string& name) {
  std::ifstream in(std::filesystem::path(folder) / name);
  int count = 0;
  for (std::string line; std::getline(in, line);) ++count;
  return count;
}

std::string environment_names() {
  std::string names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    names += std::string(*entry).substr(0, std::string(*entry).find('=')) + " ";
  }
  return names;
}

std::string open_descriptors() {
  std::string numbers;
  for (int number = 0; number < 1024; ++number) {
    if (dup2(number, number) == number) numbers += std::to_string(number) + " ";
  }
  return numbers;
}

/// What a case's name says; returns where it only colours the answer.
void act(const std::string& id, const std::vector<std::string>& past) {
  if (id == "fake/abort") {
    std::cerr << "about to abort\n" << std::flush;
    std::abort();
  }
  if (id == "fake/exit3") std::_Exit(3);
  if (id == "fake/hang") wait_for_ever();
  if (id == "fake/nonsense") say("what?\n");
  if (id == "fake/midline") {
    say("{\"ok\":tr");
    std::_Exit(1);
  }
  if (id == "fake/flood") {
    while (true) say(std::string(1 << 20, 'x'));
  }
  if (id == "fake/chatty") {
    std::cout << "{\"ok\":true} on stdout\n" << std::flush;
    std::cerr << "and on stderr\n";
  }
  if (id == "fake/orphan") {
    if (fork() == 0) wait_for_ever();
    std::_Exit(4);
  }
  const bool polluted = std::find(past.begin(), past.end(), "fake/polluter") != past.end();
  if (id == "fake/victim" && polluted) std::abort();
}

std::string FakeWorker::hello(const Request& request) {
  folder = request.hello.modules;
  note(folder, "hellos", "hello");
  if (manner == "refuse") return parity::failure_reply("no device\nwas found");
  if (manner == "flaky" && lines_of(folder, "hellos") == 2) std::_Exit(7);
  if (manner == "doomed" && lines_of(folder, "hellos") >= 2) std::_Exit(7);
  if (manner == "old") return R"({"ok":true,"protocol":99})";
  return parity::hello_reply({.worker = "fake",
                              .backend = "host",
                              .device_name = "none",
                              .device_arch = "fake",
                              .device_driver = "0",
                              .kernels = {"fake"},
                              .carriers = {{"past"}, {"past"}, {"past"}, {"everything_else"}},
                              .threads = manner != "serial"});
}

std::string FakeWorker::run(const Request& request) {
  act(request.id, past);
  past.push_back(request.id);
  if (request.id == "fake/refused") return parity::failure_reply("cannot do that");
  Outcome outcome;
  outcome.status = request.id == "fake/unsupported" ? Status::unsupported : Status::ok;
  outcome.plan = "run " + std::to_string(past.size()) + " poison " + std::to_string(request.poison);
  if (request.id == "fake/environment") outcome.plan = environment_names();
  if (request.id == "fake/descriptors") outcome.plan = open_descriptors();
  outcome.outputs = {{"out", parity::digest(request.id)}};
  return parity::run_reply(outcome);
}

/// One after the other; each knows the others of its group as its past.
std::string FakeWorker::together(const Request& request) {
  std::vector<std::string> company = past;
  for (const parity::RunRequest& run : request.runs) company.push_back(run.id);
  std::vector<Outcome> outcomes;
  for (const parity::RunRequest& run : request.runs) {
    act(run.id, company);
    past.push_back(run.id);
    Outcome outcome;
    outcome.status = run.id == "fake/unsupported" ? Status::unsupported : Status::ok;
    outcome.plan =
        "one of " + std::to_string(request.runs.size()) + " poison " + std::to_string(run.poison);
    outcome.outputs = {{"out", parity::digest(run.id)}};
    outcomes.push_back(outcome);
  }
  return parity::together_reply(outcomes);
}

std::string FakeWorker::serve(const Request& request) {
  if (request.op == "hello") return hello(request);
  if (request.op == "run") return run(request);
  if (request.op == "together") return together(request);
  if (request.op == "describe") return parity::describe_reply({{request.id, "/source"}});
  if (request.op == "prepare") {
    act(request.id, past);
    note(folder, "prepared", request.id);
    if (manner == "warning") return parity::prepare_reply({"no room\nhere", "of " + request.id});
    if (manner == "garbled") return R"({"ok":true,"warnings":"one"})";
  }
  if (request.op == "snapshot") return parity::snapshot_reply(std::to_string(past.size()));
  if (request.op == "set") past.assign(std::stoul(request.state), "set");
  if (request.op == "restore" && request.carrier != "past") {
    return parity::failure_reply("no such carrier");
  }
  if (request.op == "restore") past.clear();
  if (request.op == "bye" && !past.empty() && past.back() == "fake/forgetful")
    return parity::failure_reply("the plans are lost");
  return parity::done_reply();
}

/// After bye. The exit status, where it comes to one.
int end(const FakeWorker& worker) {
  const auto ran = [&](const std::string& id) {
    return std::find(worker.past.begin(), worker.past.end(), id) != worker.past.end();
  };
  if (worker.manner == "leaky" || ran("fake/leaky")) {
    std::cerr << "SUMMARY: 8 bytes leaked\nand more words\n" << std::flush;
    return 23;
  }
  if (ran("fake/abort_at_end")) std::abort();
  if (ran("fake/linger")) wait_for_ever();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  FakeWorker worker;
  worker.manner = argc > 1 ? argv[1] : "";
  if (worker.manner == "exit") {
    std::cerr << "there is no such backend\n";
    return 7;
  }
  if (worker.manner == "silent") wait_for_ever();
  for (std::string line; std::getline(std::cin, line);) {
    const Request request = parity::parse_request(line);
    const std::string unasked = request.id == "fake/twice" ? "{\"ok\":true}\n" : "";
    say(worker.serve(request) + "\n" + unasked);
    if (request.op == "bye") break;
  }
  return end(worker);
}
