// Runs cases for the built-in worker and says what was seen.
#include "harness/worker_session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"
#include "harness/blob_folder.hpp"
#include "harness/carrier_state.hpp"
#include "harness/plants/plants.hpp"

namespace parity {
namespace {

/// Inputs stay in host memory between runs; beyond this all others are dropped first.
constexpr std::size_t kResidentBytes = std::size_t{1} << 30;

BackendKind backend_kind(const std::string& text) {
  if (text == "cuda") return BackendKind::cuda;
  return text == "host" ? BackendKind::host : BackendKind::automatic;
}

/// State that outlives a launch and that no probe reads.
std::vector<std::string> not_probed(std::string_view backend) {
  std::vector<std::string> out = {"device_constants", "environment", "working_directory",
                                  "floating_point_environment"};
  if (backend == "cuda") out.insert(out.end(), {"cuda_device", "cuda_last_error"});
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

std::vector<ArenaBuffer> buffers_of(const TensorList& inputs,
                                    const std::vector<PackOutput>& outputs) {
  std::vector<ArenaBuffer> buffers;
  for (const NamedTensor& input : inputs) {
    buffers.push_back({input.name, input.tensor.type(), input.tensor.bytes()});
  }
  for (const PackOutput& output : outputs) buffers.push_back({output.name, output.type, {}});
  return buffers;
}

}  // namespace

WorkerSession::WorkerSession(const Hello& hello)
    : blobs_(hello.blobs),
      runtime_(make_runtime(backend_kind(hello.backend), hello.modules, faults_of(hello.plants))),
      pack_(hello.pack),
      arena_(runtime_->backend()) {}

HelloReply WorkerSession::introduction() {
  const DeviceIdentity& device = runtime_->backend().identity();
  HelloReply reply;
  reply.worker = "parity harness 0.1";
  reply.backend = runtime_->backend().name();
  reply.device_name = device.name;
  reply.device_arch = device.architecture;
  reply.device_driver = device.driver;
  for (const KernelSpec& spec : registry()) reply.kernels.push_back(spec.name);
  for (const Carrier* known : runtime_->carriers())
    reply.carriers.probe.emplace_back(known->name());
  reply.carriers.restore = reply.carriers.probe;
  reply.carriers.set = reply.carriers.probe;
  reply.carriers.not_probed = not_probed(reply.backend);
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

void WorkerSession::prepare(std::string_view id) {
  const Case description = parse_case(registry(), id);
  for (const VariantSpec& variant : description.spec->modules(description)) {
    runtime_->modules().prepare(variant);
  }
}

Outcome WorkerSession::run(const std::string& id, Poison poison) {
  launching_ = false;
  const Resident& known = resident(id);
  const std::vector<ArenaBuffer> buffers = buffers_of(known.inputs, known.outputs);
  runtime_->trace().begin(id);
  const DeviceTensors tensors = arena_.begin(buffers, poison);
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  launching_ = true;
  outcome.plan = known.description.spec->launch(*runtime_, known.description, tensors);
  launching_ = false;
  runtime_->backend().synchronize();
  const auto end = std::chrono::steady_clock::now();
  outcome.milliseconds = std::chrono::duration<double, std::milli>(end - start).count();
  ArenaReport report = arena_.inspect();
  for (const NamedTensor& output : report.outputs) {
    outcome.outputs.push_back({output.name, digest(output.tensor)});
    write_blob(blobs_, outcome.outputs.back().digest, output.tensor.bytes());
  }
  outcome.unwritten = report.unwritten;
  outcome.broken_guards = std::move(report.broken_guards);
  outcome.changed_inputs = std::move(report.changed_inputs);
  outcome.cells = take_cells();
  outcome.status = Status::ok;
  return outcome;
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

std::vector<CellSeen> WorkerSession::take_cells() {
  std::vector<CellSeen> cells;
  for (CellTouch& touch : runtime_->trace().take()) {
    cells.push_back({.carrier = std::move(touch.carrier),
                     .cell = std::move(touch.cell),
                     .wrote = touch.wrote,
                     .built_for = std::move(touch.built_for),
                     .used_for = std::move(touch.used_for),
                     .writer = std::move(touch.writer)});
  }
  return cells;
}

const WorkerSession::Resident& WorkerSession::resident(const std::string& id) {
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
  return residents_.emplace(id, Resident{description, std::move(inputs), std::move(outputs)})
      .first->second;
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
