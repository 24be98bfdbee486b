// Puts backend, toolchain and carriers together.
#include "device/runtime.hpp"

#include <fmt/format.h>

#include <utility>

#include "datasets/errors.hpp"
#include "device/no_device.hpp"
#include "device/planted_launch.hpp"

namespace parity {
namespace {

std::unique_ptr<Runtime> make_cuda_runtime(const std::filesystem::path& modules, Faults faults,
                                           const std::filesystem::path& spare) {
  auto backend = make_cuda_backend();
  auto toolchain = make_nvrtc_toolchain(backend->identity().architecture);
  return std::make_unique<Runtime>(std::move(backend), std::move(toolchain), modules, faults,
                                   spare);
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Backend> backend, std::unique_ptr<Toolchain> toolchain,
                 const std::filesystem::path& module_folder, Faults faults,
                 const std::filesystem::path& spare_folder)
    : backend_(std::move(backend)),
      toolchain_(std::move(toolchain)),
      faults_(faults),
      disk_(module_folder, spare_folder),
      modules_(*backend_, *toolchain_, disk_, faults_),
      workspaces_(*backend_, faults_),
      autotune_(faults_),
      graphs_(*backend_, faults_),
      constants_(*backend_),
      planted_state_(faults_, *backend_, constants_) {}

std::vector<Carrier*> Runtime::carriers() {
  std::vector<Carrier*> all = {&modules_,     &workspaces_,        &autotune_,
                               &graphs_,      &constants_,         &streams_,
                               &environment_, &working_directory_, &floating_point_};
  for (Carrier* of_backend : backend_->carriers()) all.push_back(of_backend);
  return all;
}

void Runtime::launch(const Launch& launch) {
  ThreadState& state = this_thread();
  const PlantedLaunch planted(faults_, *backend_, launch, state.awaited_output);
  std::shared_ptr<const Module> module = modules_.share(launch.variant, state.trace);
  const LaunchShape shape = planted.shape();
  const std::span<const std::byte> params = planted.params();
  planted.before();
  if (shape.grid.x > 0 && state.recording)
    state.recording->launches.add(launch.variant,
                                  {std::move(module), shape, {params.begin(), params.end()}},
                                  launch.words == nullptr ? "" : launch.words(launch.params));
  else if (shape.grid.x > 0)
    backend_->launch(*module, shape, params.data(), params.size());
  planted.after();
}

void Runtime::replay_as_graph(const std::function<void()>& launches) {
  ThreadState& state = this_thread();
  if (state.recording)
    throw UsageError(
        "launches are recorded while launches are recorded; call replay_as_graph once around all "
        "of them");
  struct Recorded {
    std::optional<Recording>& recording;
    explicit Recorded(std::optional<Recording>& of_thread) : recording(of_thread) {
      recording.emplace();
    }
    ~Recorded() { recording.reset(); }
    Recorded(const Recorded&) = delete;
    Recorded& operator=(const Recorded&) = delete;
  };
  const Recorded recorded(state.recording);
  launches();
  graphs_.replay(state.recording->launches, state.trace);
}

WorkspaceLease Runtime::lease_workspace(const WorkspaceKey& key, std::size_t bytes) {
  ThreadState& state = this_thread();
  if (!state.recording) return workspaces_.lease(key, bytes, state.trace);
  Recording& recording = *state.recording;
  if (!recording.only_one) recording.only_one = std::unique_lock(recording_mutex_);
  auto held = recording.workspaces.find(key);
  if (held == recording.workspaces.end())
    held = recording.workspaces.emplace(key, workspaces_.lease(key, bytes, state.trace)).first;
  DeviceTensor memory = held->second.memory;
  if (memory.type.bytes() < bytes)
    throw UsageError(fmt::format(
        "workspace {} of {} bytes is used by a launch that is recorded, and cannot grow to {} "
        "before that has run; record what needs most first, or give a workspace",
        key.canonical(), memory.type.bytes(), bytes));
  memory.type.shape = {static_cast<std::int64_t>(bytes)};
  return {memory, {}};
}

Runtime::ThreadState& Runtime::this_thread() {
  const std::scoped_lock lock(threads_mutex_);
  return threads_[std::this_thread::get_id()];
}

std::unique_ptr<Runtime> make_runtime(BackendKind kind, const std::filesystem::path& module_folder,
                                      Faults faults, const std::filesystem::path& spare_folder) {
  if (kind == BackendKind::cuda) return make_cuda_runtime(module_folder, faults, spare_folder);
  if (kind == BackendKind::automatic) {
    try {
      return make_cuda_runtime(module_folder, faults, spare_folder);
    } catch (const NoDevice&) {
      // Only this: a device that answers and then fails is an error, not a reason to go without it.
    }
  }
  return std::make_unique<Runtime>(make_host_backend(), make_host_toolchain(), module_folder,
                                   faults, spare_folder);
}

}  // namespace parity
