// All that one command needs at hand: packs, run folder, workers and the judge.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/blob_folder.hpp"
#include "harness/finding.hpp"
#include "harness/interrupt.hpp"
#include "harness/judge.hpp"
#include "harness/options.hpp"
#include "harness/progress.hpp"
#include "harness/supervisor.hpp"

namespace parity {

/// A folder under runs/ that no other process uses meanwhile; its name is the digest of arguments
/// and build.
class RunFolder {
 public:
  /// Throws DatasetError when it cannot be made.
  RunFolder(const std::filesystem::path& runs, const std::string& name);
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Where workers put modules that the disk cache's folder does not take. Goes with this.
  std::filesystem::path spare_modules() const { return path_ / "modules"; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

class Session {
 public:
  /// Checks plants and the report's folder, builds packs, asks a worker what it is. Throws
  /// UsageError, DatasetError, DeviceError.
  Session(const Options& options, std::vector<Case> cases);

  std::span<const Case> cases() const { return cases_; }
  Supervisor& supervisor() { return *supervisor_; }
  Judge& judge() { return *judge_; }
  Progress& progress() { return progress_; }
  const std::atomic<bool>& interrupted() const { return interrupt_.requested(); }

  /// Compiles every case's modules to disk, a phase of its own with a limit of its own. What the
  /// workers warn of goes to stderr.
  void compile();

  /// Head of a report: device, seed, plants, suite, what is not probed.
  RunReport report() const;
  /// To the console, and to --json. Returns the exit code.
  int publish(RunReport report) const;

 private:
  Interrupt interrupt_;
  Options options_;
  std::vector<Case> cases_;
  Progress progress_;
  std::optional<RunFolder> folder_;
  std::optional<BlobFolder> blobs_;
  std::unique_ptr<Judge> judge_;
  HelloReply worker_;
  /// For the eye only: runs whose bits are not those first seen of their case. The judge knows
  /// better.
  std::map<std::size_t, std::vector<OutputDigest>> first_bits_;
  std::size_t diverging_ = 0;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace parity
