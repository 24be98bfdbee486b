// The current device and the last error of the calling thread.
#include "device/cuda_state.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>

#include "datasets/errors.hpp"

namespace parity {
namespace {

class CurrentDevice final : public Carrier {
 public:
  CurrentDevice() : fresh_(read()) {}

  std::string_view name() const override { return "cuda_device"; }
  bool ambient() const override { return true; }
  std::vector<CellState> snapshot() const override { return read(); }
  void restore() override { set(fresh_); }
  void set(const std::vector<CellState>& cells) override {
    if (cells.size() != 1 || cells[0].cell != kCell)
      throw UsageError(fmt::format("the current CUDA device has one cell, '{}'", kCell));
    const std::string& text = cells[0].content;
    int device = 0;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), device);
    if (fault != std::errc{} || stop != text.data() + text.size())
      throw UsageError(fmt::format("'{}' is no number of a CUDA device", text));
    if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
      cudaGetLastError();
      throw UsageError(
          fmt::format("CUDA device {} cannot be used: {}", text, cudaGetErrorName(error)));
    }
  }

 private:
  static constexpr const char* kCell = "device";

  static std::vector<CellState> read() {
    int device = 0;
    const cudaError_t error = cudaGetDevice(&device);
    return {{kCell, error == cudaSuccess ? std::to_string(device) : cudaGetErrorName(error)}};
  }

  std::vector<CellState> fresh_;
};

class LastError final : public Carrier {
 public:
  std::string_view name() const override { return "cuda_last_error"; }
  bool ambient() const override { return true; }
  bool settable() const override { return false; }
  std::vector<CellState> snapshot() const override {
    return {{"error", cudaGetErrorName(cudaPeekAtLastError())}};
  }
  void restore() override { cudaGetLastError(); }
  void set(const std::vector<CellState>&) override {
    throw UsageError("cuda_last_error cannot be set; only a failing call sets it");
  }
};

}  // namespace

std::vector<std::unique_ptr<Carrier>> make_cuda_state() {
  std::vector<std::unique_ptr<Carrier>> carriers;
  carriers.push_back(std::make_unique<CurrentDevice>());
  carriers.push_back(std::make_unique<LastError>());
  return carriers;
}

}  // namespace parity
