// All that one command needs at hand: packs, run folder, workers and the judge.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "harness/blob_folder.hpp"
#include "harness/child_process.hpp"
#include "harness/finding.hpp"
#include "harness/interrupt.hpp"
#include "harness/journal.hpp"
#include "harness/judge.hpp"
#include "harness/options.hpp"
#include "harness/pack_builder.hpp"
#include "harness/progress.hpp"
#include "harness/run_folder.hpp"
#include "harness/supervisor.hpp"

namespace parity {

class Session {
 public:
  /// Checks plants and the report's folder, asks a worker what it is, builds packs, begins a
  /// journal or goes on with the one in `options.run_folder`. Throws UsageError, DatasetError,
  /// DeviceError.
  Session(const Options& options, std::vector<Case> cases);

  std::span<const Case> cases() const { return cases_; }
  Supervisor& supervisor() { return *supervisor_; }
  Judge& judge() { return *judge_; }
  Progress& progress() { return progress_; }
  const std::atomic<bool>& interrupted() const { return interrupt_.requested(); }

  /// Compiles every case's modules to disk, a phase of its own with a limit of its own. What the
  /// workers warn of goes to stderr.
  void compile();

  /// Nothing is left to run: what a later --resume would find has ended.
  void end(const JournalEnd& end = {});
  /// How a run that is gone on with had ended, where it gives only its report again: nothing runs
  /// but what has lost its outputs.
  const std::optional<JournalEnd>& ended() const { return ended_; }

  /// Head of a report: device, seed, plants, suite, what is not probed.
  RunReport report() const;
  /// To the console, and to --json. Returns the exit code. `end`: nothing that was asked for is
  /// left to run; without it, or when interrupted, the report says how to go on.
  int publish(RunReport report, const std::optional<JournalEnd>& end = JournalEnd{});

 private:
  /// Throws DatasetError when interrupted.
  PackPaths prepare_cases(const std::filesystem::path& folder, const Provenance& provenance);
  void keep_journal(const std::string& build, const std::filesystem::path& pack);
  void go_on_from(const JournalEnd& end);
  /// Whether outputs of a journal's result are missing or damaged: they are not synced to the disk,
  /// and a machine that loses its power loses some that its journal names.
  bool outputs_lost(const Sequence& sequence, const SequenceResult& result);
  void permit_noise();
  void warn(const std::string& line);

  Interrupt interrupt_;
  Options options_;
  std::vector<Case> cases_;
  Progress progress_;
  Descriptor modules_held_;  ///< against harness cache clear
  std::optional<RunFolder> folder_;
  std::optional<BlobFolder> blobs_;
  std::optional<Journal> journal_;
  std::optional<JournalEnd> ended_;
  std::unique_ptr<Judge> judge_;
  std::set<std::string> noisy_;  ///< ids
  std::set<Digest> sound_outputs_;
  HelloReply worker_;
  /// For the eye only: runs whose bits are not those first seen of their case. The judge knows
  /// better.
  std::map<std::size_t, std::vector<OutputDigest>> first_bits_;
  std::size_t diverging_ = 0;
  std::unique_ptr<Supervisor> supervisor_;
};

}  // namespace parity
