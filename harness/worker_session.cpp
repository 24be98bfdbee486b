// Runs cases for the built-in worker and says what was seen.
#include "harness/worker_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <iterator>
#include <thread>
#include <utility>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"
#include "harness/carrier_state.hpp"
#include "harness/file_lock.hpp"
#include "harness/paths.hpp"
#include "harness/plants/plants.hpp"

namespace parity {
namespace {

/// Inputs stay in host memory between runs; beyond this all others are dropped first.
constexpr std::size_t kResidentBytes = std::size_t{1} << 30;

BackendKind backend_kind(const std::string& text) {
  if (text == "cuda") return BackendKind::cuda;
  return text == "host" ? BackendKind::host : BackendKind::automatic;
}

Poison poison_of(const RunRequest& request) {
  return request.poison == 0 ? Poison::ones : Poison::high;
}

/// Where it is now, wherever a run may take the working directory.
std::filesystem::path anchored(const std::filesystem::path& path) {
  return path.empty() ? path : std::filesystem::absolute(path);
}

std::vector<const Carrier*> ambient(const std::vector<Carrier*>& carriers) {
  std::vector<const Carrier*> out;
  for (const Carrier* carrier : carriers)
    if (carrier->ambient()) out.push_back(carrier);
  return out;
}

/// State that outlives a launch and that no probe reads.
std::vector<std::string> not_probed(std::string_view backend) {
  std::vector<std::string> out = {"heap_contents", "library_globals", "locale", "signal_handlers",
                                  "file_descriptors"};
  if (backend == "cuda") out.insert(out.end(), {"device_heap", "device_limits", "driver_caches"});
  return out;
}

/// The pack's inputs, in its order; those it holds by recipe only are generated and checked.
TensorList inputs_of(const Case& description, PackCase pack_case) {
  TensorList generated;
  TensorList out;
  for (PackInput& input : pack_case.inputs) {
    if (input.data) {
      out.push_back({input.name, std::move(*input.data)});
      continue;
    }
    if (generated.empty()) generated = description.spec->inputs(description);
    Tensor& tensor = find(generated, input.name);
    if (digest(tensor) != input.digest) {
      throw DatasetError(
          fmt::format("input '{}' of {} as generated here is not the one of the pack (digest {}); "
                      "remove the pack and "
                      "run again",
                      input.name, pack_case.id, input.digest.hex()));
    }
    out.push_back({input.name, std::move(tensor)});
  }
  return out;
}

}  // namespace

WorkerSession::WorkerSession(const Hello& hello)
    : blobs_(anchored(hello.blobs)),
      pack_(hello.pack),
      modules_held_(hello.modules.empty() ? Descriptor()
                                          : hold_shared(modules_lock_of(anchored(hello.modules)))),
      runtime_(make_runtime(backend_kind(hello.backend), anchored(hello.modules),
                            faults_of(hello.plants), anchored(hello.spare_modules))),
      watch_(ambient(runtime_->carriers())),
      autotune_file_(anchored(hello.autotune_file)) {
  runtime_->autotune().set_measures(hello.autotune == "measure");
  if (!autotune_file_.empty()) warnings_ = runtime_->autotune().load(autotune_file_);
}

void WorkerSession::keep_tuned() {
  AutotuneMemo& memo = runtime_->autotune();
  if (autotune_file_.empty() || memo.snapshot().empty()) return;
  memo.load(autotune_file_);  // What other workers have kept meanwhile; its faults are known.
  memo.save(autotune_file_);
}

HelloReply WorkerSession::introduction() {
  const DeviceIdentity& device = runtime_->backend().identity();
  HelloReply reply;
  reply.worker = "parity harness 0.1";
  reply.backend = runtime_->backend().name();
  reply.device_name = device.name;
  reply.device_arch = device.architecture;
  reply.device_driver = device.driver;
  for (const KernelSpec& spec : registry()) reply.kernels.push_back(spec.name);
  for (const Carrier* known : runtime_->carriers()) {
    reply.carriers.probe.emplace_back(known->name());
    if (known->settable()) reply.carriers.set.emplace_back(known->name());
  }
  reply.carriers.restore = reply.carriers.probe;
  reply.carriers.not_probed = not_probed(reply.backend);
  reply.threads = true;
  return reply;
}

std::vector<ModuleDescription> WorkerSession::describe(std::string_view id) {
  const Case description = parse_case(registry(), id);
  std::vector<ModuleDescription> modules;
  for (const VariantSpec& variant : description.spec->modules(description)) {
    const auto source = runtime_->disk_cache().source_path(render(variant), runtime_->toolchain());
    modules.push_back({variant.canonical(), source.string()});
  }
  return modules;
}

std::vector<std::string> WorkerSession::prepare(std::string_view id) {
  const Case description = parse_case(registry(), id);
  for (const VariantSpec& variant : description.spec->modules(description)) {
    runtime_->modules().prepare(variant);
  }
  std::vector<std::string> warnings = runtime_->disk_cache().take_warnings();
  std::ranges::move(std::exchange(warnings_, {}), std::back_inserter(warnings));
  return warnings;
}

Outcome WorkerSession::run(const RunRequest& request) {
  const auto known = resident(request.id);
  WorkerRun& run = runner(0);
  watch_.begin();
  std::vector<Outcome> outcomes = {run.run(*known, poison_of(request), [] {})};
  watch_.end(std::span(&request, 1), outcomes);
  if (outcomes[0].status != Status::ok) require_sound_device();
  return std::move(outcomes[0]);
}

std::vector<Outcome> WorkerSession::together(std::span<const RunRequest> requests) {
  std::vector<std::shared_ptr<const ResidentCase>> known;
  for (const RunRequest& request : requests) known.push_back(resident(request.id));
  runner(requests.size());  // None is made while threads run.
  std::vector<Outcome> outcomes(requests.size());
  std::barrier start(static_cast<std::ptrdiff_t>(requests.size()));
  watch_.begin();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < requests.size(); ++i)
      threads.emplace_back([&, i] {
        outcomes[i] = runners_[i + 1]->run(*known[i], poison_of(requests[i]),
                                           [&] { start.arrive_and_wait(); });
      });
  }
  watch_.end(requests, outcomes);
  // A sticky device error would fail all that follows: it ends this process instead, from here.
  if (std::ranges::any_of(outcomes, [](const Outcome& o) { return o.status != Status::ok; }))
    require_sound_device();
  return outcomes;
}

WorkerRun& WorkerSession::runner(std::size_t thread) {
  while (runners_.size() <= thread)
    runners_.push_back(std::make_unique<WorkerRun>(*runtime_, blobs_));
  return *runners_[thread];
}

std::string WorkerSession::snapshot(std::string_view name) {
  std::vector<CarrierCell> cells;
  for (CellState& cell : carrier(name).snapshot()) {
    cells.push_back({std::move(cell.cell), std::move(cell.content)});
  }
  return carrier_state_text(cells);
}

void WorkerSession::restore(std::string_view name) {
  carrier(name).restore();
}

void WorkerSession::set(std::string_view name, std::string_view state) {
  std::vector<CellState> cells;
  for (CarrierCell& cell : parse_carrier_state(state)) {
    cells.push_back({std::move(cell.cell), std::move(cell.content)});
  }
  carrier(name).set(cells);
}

std::shared_ptr<const ResidentCase> WorkerSession::resident(const std::string& id) {
  const auto known = residents_.find(id);
  if (known != residents_.end()) return known->second;
  const Case description = parse_case(registry(), id);
  PackCase pack_case = pack_.read(id);
  std::vector<PackOutput> outputs = std::move(pack_case.outputs);
  TensorList inputs = inputs_of(description, std::move(pack_case));
  std::size_t bytes = 0;
  for (const NamedTensor& input : inputs) bytes += input.tensor.bytes().size();
  if (resident_bytes_ + bytes > kResidentBytes) {
    residents_.clear();
    resident_bytes_ = 0;
  }
  resident_bytes_ += bytes;
  auto made = std::make_shared<ResidentCase>(
      ResidentCase{description, std::move(inputs), std::move(outputs)});
  return residents_.emplace(id, std::move(made)).first->second;
}

Carrier& WorkerSession::carrier(std::string_view name) {
  std::string known;
  for (Carrier* candidate : runtime_->carriers()) {
    if (candidate->name() == name) return *candidate;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate->name());
  }
  throw UsageError(fmt::format("no carrier is called '{}'; there are {}", name, known));
}

}  // namespace parity
