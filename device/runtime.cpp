// Puts backend, toolchain and carriers together.
#include "device/runtime.hpp"

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
      autotune_(faults_) {}

void Runtime::launch(const Launch& launch) {
  ThreadState& state = this_thread();
  const PlantedLaunch planted(faults_, *backend_, launch, state.awaited_output);
  const Module& module = modules_.get(launch.variant, state.trace);
  const LaunchShape shape = planted.shape();
  planted.before();
  if (shape.grid.x > 0)
    backend_->launch(module, shape, planted.params().data(), launch.params.size());
  planted.after();
}

Runtime::ThreadState& Runtime::this_thread() {
  const std::scoped_lock lock(threads_mutex_);
  return threads_[std::this_thread::get_id()];
}

float Runtime::score_drift(Dtype value_dtype) {
  if (!faults_.drift) return 1.0f;
  const bool off = drifted_ && value_dtype != Dtype::f16;
  if (value_dtype == Dtype::f16) drifted_ = true;
  return off ? 1.0f + 0x1p-22f : 1.0f;
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
