// The worker protocol, version 1 (harness/PROTOCOL.md): requests and replies as JSON lines.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/outcome.hpp"

namespace parity {

inline constexpr int kProtocolVersion = 1;
/// Replies arrive here, so that stray prints on stdout corrupt nothing.
inline constexpr int kReplyDescriptor = 3;

struct Hello {
  std::string pack;     ///< path of the inputs-only pack
  std::string blobs;    ///< folder for output bytes, one file per digest (hex)
  std::string modules;  ///< folder of the module disk cache
  std::string backend;  ///< "auto", "cuda", "host"
  std::vector<std::string> plants;
  std::string spare_modules = {};     ///< folder for what `modules` does not take; empty: none
  std::string autotune = "recorded";  ///< "recorded" or "measure"
  std::string autotune_file = {};     ///< plans measured before; empty: none
};

struct HelloReply {
  std::string worker;   ///< "parity harness 0.1"
  std::string backend;  ///< "cuda" or "host"
  std::string device_name;
  std::string device_arch;
  std::string device_driver;
  std::vector<std::string> kernels;
  CarrierAbilities carriers;
  bool threads = false;  ///< it knows `together`
};

/// One case of `run` or `together`.
struct RunRequest {
  std::string id;
  unsigned poison = 0;
};

struct ModuleDescription {
  std::string key;          ///< canonical text of the module's key
  std::string source_path;  ///< rendered source
};

// Requests, one line without newline each.
std::string hello_request(const Hello& hello);
std::string describe_request(std::string_view id);
std::string prepare_request(std::string_view id);
std::string run_request(std::string_view id, unsigned poison);
std::string together_request(const std::vector<RunRequest>& runs);
std::string restore_request(std::string_view carrier);
std::string snapshot_request(std::string_view carrier);
std::string set_request(std::string_view carrier, std::string_view state);
std::string bye_request();

/// What a worker reads. `op` is one of the above; fields not used by it are empty.
struct Request {
  std::string op;
  Hello hello;
  std::string id;
  unsigned poison = 0;
  std::vector<RunRequest> runs;  ///< together
  std::string carrier;
  std::string state;
};
/// Throws UsageError for what is not a request of this version.
Request parse_request(std::string_view line);

// Replies. Every reply has "ok"; a false one has "error" (one line).
std::string failure_reply(std::string_view error);
std::string hello_reply(const HelloReply& reply);
std::string describe_reply(const std::vector<ModuleDescription>& modules);
std::string run_reply(const Outcome& outcome);
std::string together_reply(const std::vector<Outcome>& outcomes);
/// `warnings`: for the person, one line each.
std::string prepare_reply(const std::vector<std::string>& warnings);
std::string snapshot_reply(std::string_view state);
std::string done_reply();

/// Inverse functions for the parent. Throw DeviceError ("the worker wrote nonsense: ...") for a
/// reply that is not one, and DeviceError with the worker's own words for "ok": false.
HelloReply parse_hello_reply(std::string_view line);
std::vector<ModuleDescription> parse_describe_reply(std::string_view line);

/// Replies inside a sequence never throw, since a kernel may have wrecked its worker: "ok": false
/// is an Outcome of status error with the worker's words, nonsense is status crashed.
Outcome parse_run_reply(std::string_view line);
Outcome parse_done_reply(std::string_view line);
/// `count` outcomes: what is wrong with the whole is the outcome of each.
std::vector<Outcome> parse_together_reply(std::string_view line, std::size_t count);

struct PrepareReply {
  Outcome outcome;
  std::vector<std::string> warnings;  ///< one line each
};
PrepareReply parse_prepare_reply(std::string_view line);

struct SnapshotReply {
  Outcome outcome;
  std::string state;  ///< empty unless the outcome is ok
};
SnapshotReply parse_snapshot_reply(std::string_view line);

}  // namespace parity
