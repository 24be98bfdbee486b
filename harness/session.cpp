#include "harness/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <numeric>
#include <thread>

#include "datasets/errors.hpp"
#include "device/autotune_file.hpp"
#include "device/faults.hpp"
#include "harness/file_lock.hpp"
#include "harness/paths.hpp"
#include "harness/plants/plants.hpp"
#include "harness/shell_words.hpp"
#include "harness/shown_text.hpp"
#include "harness/writable.hpp"
#include "reports/report.hpp"

namespace parity {
namespace {

/// Everything that decides what the run does; equal arguments and build share a run folder.
std::string run_name(const Options& options, const std::vector<Case>& cases,
                     const std::string& build) {
  std::string text = fmt::format(
      "{}\n{} {}\n{} {} {} {}\n", build, static_cast<int>(options.command), options.suffix(),
      static_cast<int>(options.permute), options.orders.random, options.seed, options.repeat);
  for (const Case& c : cases) text += c.id() + "\n";
  for (const std::string& id : options.cases) text += "replay " + id + "\n";
  return digest(text).hex();
}

std::string built_in_worker() {
  return shell_quoted(program_path().string()) + " worker";
}

std::size_t default_jobs(const std::string& backend) {
  // A CUDA context costs half a second: one worker runs while the next starts.
  if (backend == "cuda") return 2;
  return std::max(1u, std::thread::hardware_concurrency());
}

/// Compilers share nothing, but each is a worker that has to start.
std::size_t compile_jobs(std::size_t cases) {
  constexpr std::size_t kCasesAWorker = 16;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(cases / kCasesAWorker, std::min<std::size_t>(2, cores), cores);
}

void check_plants(const Options& options) {
  (void)faults_of(options.plants);
  for (const std::string& name : options.plants)
    if (plant_named(name).expected_carrier == "autotune_memo" && options.autotune == "measure")
      throw UsageError(fmt::format(
          "--plant {} needs --autotune recorded: where timing chooses plans, another plan is no "
          "finding",
          name));
}

/// Plans are read from it too, and take the place of nothing but plans.
void check_plans_file(const std::filesystem::path& path) {
  if (path.empty()) return;
  if (!is_utf8(path.string()))
    throw UsageError(fmt::format(
        "--autotune-file {}: its name is not UTF-8, and workers are told it in JSON; name another",
        path.string()));
  if (const std::string why = autotune_file_fault(path); !why.empty())
    throw UsageError(fmt::format("--autotune-file {}: {}; name a file of plans or a new one",
                                 path.string(), why));
}

/// Until its journal names them, nobody else knows which packs a run needs.
Descriptor keep_packs(const std::filesystem::path& lock) {
  if (Descriptor held = hold_shared(lock); held.number() >= 0) return held;
  throw DatasetError(fmt::format("{} cannot be locked: {}; set PARITY_HOME to a writable folder",
                                 lock.string(), std::strerror(errno)));
}

}  // namespace

Session::Session(const Options& options, std::vector<Case> cases)
    : options_(options), cases_(std::move(cases)) {
  check_plants(options);
  check_writable("--json", options.json);
  check_plans_file(options.autotune_file);
  const Paths folders = paths();
  modules_held_ = hold_shared(folders.modules_lock);
  const std::string build = build_id();
  if (options.run_folder.empty())
    folder_.emplace(folders.runs, run_name(options, cases_, build));
  else
    folder_.emplace(options.run_folder);
  blobs_.emplace(folder_->blobs());

  const Descriptor packs_kept = keep_packs(folders.packs_lock);
  const Provenance provenance{build, std::string(kReferenceVersion)};
  SupervisorOptions run;
  for (const Case& c : cases_) run.ids.push_back(c.id());
  run.command = options.worker.empty() ? built_in_worker() : options.worker;
  run.hello = {ensure_packs({}, folders.packs, provenance).inputs.string(),
               folder_->blobs().string(),
               folders.modules.string(),
               options.backend,
               options.plants,
               folder_->spare_modules().string(),
               options.autotune,
               options.autotune_file.string()};
  run.run_folder = folder_->path();
  run.deadline = options.deadline;
  run.interrupted = &interrupt_.requested();
  // With a pack of no cases: those of full take minutes to make, and for nothing without a device.
  progress_.phase("asking a worker what it is");
  worker_ = Supervisor(run).identity();
  if (options.threads > 1 && !worker_.threads)
    throw UsageError(
        fmt::format("--threads {}: the worker `{}` runs one case at a time (its hello does not say "
                    "\"threads\")",
                    options.threads, run.command));
  const PackPaths packs = prepare_cases(folders.packs, provenance);
  run.hello.pack = packs.inputs.string();
  judge_ = std::make_unique<Judge>(run.ids, PackReader(packs.golden), *blobs_);
  permit_noise();
  run.threads = options.threads;

  run.hello.backend = worker_.backend;
  if (options.command != Command::show) {
    keep_journal(build, packs.inputs);
    run.journal = &*journal_;
    run.lost = [this](const Sequence& sequence, const SequenceResult& result) {
      return outputs_lost(sequence, result);
    };
  }
  run.progress = [this](std::size_t done, std::size_t planned, std::size_t c,
                        const Outcome& outcome) {
    const bool same = first_bits_.try_emplace(c, outcome.outputs).first->second == outcome.outputs;
    const bool diverges = !same && !judge_->noise_permitted(c);
    if (diverges || outcome.status != Status::ok) ++diverging_;
    progress_.update(done, planned, diverging_);
  };
  run.jobs = options.jobs > 0 ? options.jobs : default_jobs(worker_.backend);
  run.compile_jobs = options.jobs > 0 ? options.jobs : compile_jobs(cases_.size());
  supervisor_ = std::make_unique<Supervisor>(std::move(run));
}

PackPaths Session::prepare_cases(const std::filesystem::path& folder,
                                 const Provenance& provenance) {
  progress_.phase("preparing cases");
  return ensure_packs(cases_, folder, provenance, [this](std::size_t done) {
    if (interrupted())
      throw DatasetError(
          fmt::format("interrupted when {} of {} cases were prepared; nothing has run, begin anew",
                      done, cases_.size()));
    progress_.update(done, cases_.size());
  });
}

void Session::keep_journal(const std::string& build, const std::filesystem::path& pack) {
  const JournalHead head{options_.arguments,
                         std::filesystem::current_path().string(),
                         build,
                         pack.filename().string(),
                         worker_.worker,
                         worker_.backend,
                         worker_.device_name,
                         worker_.device_arch,
                         worker_.device_driver};
  const auto complain = [this](const std::string& line) { warn(line); };
  if (options_.run_folder.empty()) {
    folder_->clear();
    journal_.emplace(folder_->journal(), head, complain);
    return;
  }
  journal_.emplace(folder_->journal(), complain);
  JournalHead began = journal_->head();
  began.arguments = head.arguments;
  began.folder = head.folder;
  if (began == head) {
    if (journal_->ended()) go_on_from(*journal_->ended());
    return;
  }
  const auto words = [](const JournalHead& h) {
    return fmt::format("{}, {} ({}, {}, {})", h.worker, h.backend, h.device_name, h.device_arch,
                       h.device_driver);
  };
  throw UsageError(fmt::format("--resume {}: it ran on {}, and here is {}; start it anew",
                               folder_->path().filename().string(), words(began), words(head)));
}

/// More time is of use only to a run that had none left.
void Session::go_on_from(const JournalEnd& end) {
  const bool goes_on = end.out_of_time && options_.more_budget;
  if (!goes_on) ended_ = end;
  progress_.finish();
  fmt::print(stderr, "harness: {} had ended{}\n", shown(folder_->path().filename().string()),
             goes_on ? " with its budget; it goes on with another"
             : options_.more_budget
                 ? " with nothing left to run, and --budget adds none; this is its report again"
                 : "; this is its report again");
}

bool Session::outputs_lost(const Sequence& sequence, const SequenceResult& result) {
  bool lost = false;
  for (std::size_t i = 0; i < sequence.steps.size(); ++i) {
    const PackCase& known = judge_->pack_case(sequence.steps[i].case_index);
    // Each is looked at, although one is enough: what is damaged is to go.
    for (const OutputDigest& output : result.outcomes[i].outputs) {
      const auto type = std::ranges::find(known.outputs, output.name, &PackOutput::name);
      if (type == known.outputs.end() || sound_outputs_.contains(output.digest)) continue;
      const bool sound = blobs_->sound(type->type, output.digest);
      if (sound) sound_outputs_.insert(output.digest);
      lost = lost || !sound;
    }
  }
  return lost;
}

void Session::warn(const std::string& line) {
  progress_.finish();
  fmt::print(stderr, "warning: {}\n", shown_line(line));
}

void Session::permit_noise() {
  for (const std::string& pattern : options_.noisy) {
    const std::size_t before = noisy_.size();
    for (std::size_t c = 0; c < cases_.size(); ++c) {
      if (!matches(pattern, cases_[c].id())) continue;
      judge_->permit_noise(c);
      noisy_.insert(cases_[c].id());
    }
    if (noisy_.size() == before)
      throw UsageError(
          fmt::format("--noisy '{}' matches none of the {} selected cases, or only "
                      "what another --noisy matches",
                      pattern, cases_.size()));
  }
}

void Session::end(const JournalEnd& end) {
  if (journal_) journal_->end(ended_.value_or(end));
}

void Session::compile() {
  progress_.phase("compiling modules");
  std::vector<std::size_t> all(cases_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<std::string> warnings = supervisor_->prepare(all);
  for (const std::string& line : warnings) warn(line);
}

RunReport Session::report() const {
  RunReport report;
  report.backend = worker_.backend;
  report.device_name = worker_.device_name;
  report.device_arch = worker_.device_arch;
  report.device_driver = worker_.device_driver;
  report.seed = options_.seed;
  report.suite = options_.suite == Suite::full ? "full" : "smoke";
  report.threads = options_.threads;
  report.plants = options_.plants;
  report.noisy.assign(noisy_.begin(), noisy_.end());
  report.not_probed = worker_.carriers.not_probed;
  report.build = build_id();
  return report;
}

int Session::publish(RunReport report, const std::optional<JournalEnd>& end_of_run) {
  for (const std::string& line : supervisor_->complaints()) warn(line);
  report.worker_error = supervisor_->bad_end();
  report.exit_code = exit_code(report);
  const bool whole = end_of_run && !report.interrupted;
  if (!whole)
    report.resume =
        fmt::format("{} --resume {}", options_.program, folder_->path().filename().string());
  make_console_writer(isatty(STDOUT_FILENO) != 0)->write(report, std::cout);
  std::cout.flush();
  if (!options_.json.empty()) write_report(*make_json_writer(), report, options_.json);
  if (whole) end(*end_of_run);
  return report.exit_code;
}

}  // namespace parity
