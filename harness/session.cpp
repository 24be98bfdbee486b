#include "harness/session.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <numeric>
#include <thread>

#include "datasets/errors.hpp"
#include "device/faults.hpp"
#include "harness/pack_builder.hpp"
#include "harness/paths.hpp"
#include "harness/plants/plants.hpp"
#include "reports/report.hpp"

namespace parity {
namespace {

constexpr std::string_view kReferenceVersion = "1";

/// Everything that decides what the run does; equal arguments and build share a run folder.
std::string run_name(const Options& options, const std::vector<Case>& cases,
                     const std::string& build) {
  std::string text = fmt::format("{}\n{}\n{} {} {} {}\n", build, options.suffix(),
                                 static_cast<int>(options.permute), options.orders.random,
                                 options.seed, options.repeat);
  for (const Case& c : cases) text += c.id() + "\n";
  for (const std::string& id : options.cases) text += "replay " + id + "\n";
  return digest(text).hex();
}

/// A file that cannot be written at the end would lose the run: try it at the start.
void check_writable(std::string_view option, const std::filesystem::path& path) {
  // Devices, pipes and links are written in place.
  if (path.empty() || (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path) &&
                       !std::filesystem::is_directory(path)))
    return;
  const std::filesystem::path trial = path.string() + fmt::format(".tmp.{}", getpid());
  if (std::filesystem::is_directory(path))
    throw UsageError(fmt::format("{} {}: is a folder; name a file", option, path.string()));
  const int file = open(trial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    throw UsageError(
        fmt::format("{} {}: cannot be written: {}", option, path.string(), std::strerror(errno)));
  close(file);
  std::filesystem::remove(trial);
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

}  // namespace

RunFolder::RunFolder(const std::filesystem::path& runs, const std::string& name) {
  for (int attempt = 1;; ++attempt) {
    path_ = runs / (attempt == 1 ? name : fmt::format("{}-{}", name, attempt));
    std::error_code error;
    std::filesystem::create_directories(path_ / "blobs", error);
    lock_ = open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (error || lock_ < 0)
      throw DatasetError(
          fmt::format("run folder {} cannot be made: {}; set PARITY_HOME to a writable folder",
                      path_.string(), error ? error.message() : std::strerror(errno)));
    if (flock(lock_, LOCK_EX | LOCK_NB) == 0) break;
    close(lock_);
  }
  std::error_code error;  // What a killed run left; only the lock's holder may.
  std::filesystem::remove_all(spare_modules(), error);
}

RunFolder::~RunFolder() {
  std::error_code error;
  std::filesystem::remove_all(spare_modules(), error);
  close(lock_);
}

Session::Session(const Options& options, std::vector<Case> cases)
    : options_(options), cases_(std::move(cases)) {
  (void)faults_of(options.plants);
  check_writable("--json", options.json);
  check_writable("--autotune-file", options.autotune_file);
  const Paths folders = paths();
  const std::string build = build_id();
  folder_.emplace(folders.runs, run_name(options, cases_, build));
  blobs_.emplace(folder_->path() / "blobs");

  progress_.phase("preparing cases");
  const PackPaths packs =
      ensure_packs(cases_, folders.packs, {build, std::string(kReferenceVersion)});
  SupervisorOptions run;
  for (const Case& c : cases_) run.ids.push_back(c.id());
  judge_ = std::make_unique<Judge>(run.ids, PackReader(packs.golden), *blobs_);

  run.command = options.worker.empty() ? built_in_worker() : options.worker;
  run.hello = {packs.inputs.string(),    (folder_->path() / "blobs").string(),
               folders.modules.string(), options.backend,
               options.plants,           folder_->spare_modules().string(),
               options.autotune,         options.autotune_file.string()};
  run.run_folder = folder_->path();
  run.deadline = options.deadline;
  run.interrupted = &interrupt_.requested();
  progress_.phase("asking a worker what it is");
  worker_ = Supervisor(run).identity();
  if (options.threads > 1 && !worker_.threads)
    throw UsageError(
        fmt::format("--threads {}: the worker `{}` runs one case at a time (its hello does not say "
                    "\"threads\")",
                    options.threads, run.command));
  run.threads = options.threads;

  run.hello.backend = worker_.backend;
  run.progress = [this](std::size_t done, std::size_t planned, std::size_t c,
                        const Outcome& outcome) {
    const bool same = first_bits_.try_emplace(c, outcome.outputs).first->second == outcome.outputs;
    if (!same || outcome.status != Status::ok) ++diverging_;
    progress_.update(done, planned, diverging_);
  };
  run.jobs = options.jobs > 0 ? options.jobs : default_jobs(worker_.backend);
  run.compile_jobs = options.jobs > 0 ? options.jobs : compile_jobs(cases_.size());
  supervisor_ = std::make_unique<Supervisor>(std::move(run));
}

void Session::compile() {
  progress_.phase("compiling modules");
  std::vector<std::size_t> all(cases_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<std::string> warnings = supervisor_->prepare(all);
  if (!warnings.empty()) progress_.finish();
  for (const std::string& line : warnings) fmt::print(stderr, "warning: {}\n", line);
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
  report.not_probed = worker_.carriers.not_probed;
  return report;
}

int Session::publish(RunReport report) const {
  report.worker_error = supervisor_->bad_end();
  report.exit_code = exit_code(report);
  make_console_writer(isatty(STDOUT_FILENO) != 0)->write(report, std::cout);
  std::cout.flush();
  if (!options_.json.empty()) write_report(*make_json_writer(), report, options_.json);
  return report.exit_code;
}

}  // namespace parity
