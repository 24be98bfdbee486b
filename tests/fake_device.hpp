// A backend over malloc and a toolchain that only copies its text: they count what was asked of
// them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "device/backend.hpp"
#include "device/toolchain.hpp"

namespace parity {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The image is "image of " and the text.
class FakeToolchain final : public Toolchain {
 public:
  const ToolchainIdentity& identity() const override { return id; }
  std::string image_suffix() const override { return ".so"; }
  std::vector<std::byte> compile(const std::string& text, const std::string&) const override {
    ++compiles;
    std::this_thread::sleep_for(delay);
    if (refuse) throw CompileError("refused");
    const std::string image = "image of " + text;
    const auto bytes = std::as_bytes(std::span(image));
    return {bytes.begin(), bytes.end()};
  }

  ToolchainIdentity id{"fake", "1.0", "fake_90", {"-O2"}};
  std::chrono::milliseconds delay{0};
  bool refuse = false;
  mutable std::atomic<int> compiles{0};
};

struct FakeModule final : Module {
  FakeModule(std::string its_image, std::atomic<int>& its_count)
      : image(std::move(its_image)), loaded(its_count) {
    ++loaded;
  }
  ~FakeModule() override { --loaded; }

  std::string image;
  std::atomic<int>& loaded;
};

class FakeBackend : public Backend {
 public:
  std::string_view name() const override { return "fake"; }
  const DeviceIdentity& identity() const override { return id_; }
  void* allocate(std::size_t bytes) override {
    ++allocations;
    return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  void release(void* memory) noexcept override {
    --allocations;
    std::free(memory);
  }
  void fill(void* memory, std::byte value, std::size_t bytes) override {
    std::memset(memory, std::to_integer<int>(value), bytes);
  }
  void copy_in(void* device, std::span<const std::byte> host) override {
    if (!host.empty()) std::memcpy(device, host.data(), host.size());
  }
  void copy_out(std::span<std::byte> host, const void* device) override {
    largest_copy_out = std::max(largest_copy_out, host.size());
    if (!host.empty()) std::memcpy(host.data(), device, host.size());
  }
  std::unique_ptr<Module> load(const std::filesystem::path& file, const std::string&) override {
    return std::make_unique<FakeModule>(read_file(file), loaded);
  }
  void launch(const Module&, const LaunchShape&, const void*, std::size_t) override {}
  void synchronize() override {}
  std::unique_ptr<Stopwatch> stopwatch() override { return nullptr; }

  std::atomic<int> allocations = 0;  ///< not yet released
  std::size_t largest_copy_out = 0;
  std::atomic<int> loaded{0};  ///< modules alive

 private:
  DeviceIdentity id_{"fake device", "fake_90", "0", 1};
};

}  // namespace parity
