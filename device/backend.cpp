// Graphs of a backend that has none of its own.
#include "device/backend.hpp"

#include <charconv>
#include <utility>

namespace parity {
namespace {

class LaunchList final : public Graph {
 public:
  LaunchList(Backend& backend, std::vector<PreparedLaunch> launches)
      : backend_(backend), launches_(std::move(launches)) {}

  void replay() override {
    for (const PreparedLaunch& launch : launches_)
      backend_.launch(*launch.module, launch.shape, launch.params.data(), launch.params.size());
  }

 private:
  Backend& backend_;
  std::vector<PreparedLaunch> launches_;
};

}  // namespace

unsigned compute_capability(std::string_view architecture) {
  constexpr std::string_view kGpu = "sm_";
  unsigned capability = 0;
  if (architecture.starts_with(kGpu))
    std::from_chars(architecture.data() + kGpu.size(), architecture.data() + architecture.size(),
                    capability);
  return capability;
}

std::unique_ptr<Graph> Backend::capture(std::vector<PreparedLaunch> launches) {
  return std::make_unique<LaunchList>(*this, std::move(launches));
}

}  // namespace parity
