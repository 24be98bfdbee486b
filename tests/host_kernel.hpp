// A kernel given as text, compiled and run on the host backend by the tests of the execution model.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/kernel_text.hpp"
#include "device/toolchain.hpp"

namespace parity {

/// The parameters of every kernel in these tests; kKernelPrologue declares the same in kernel text.
struct TestParams {
  float* f = nullptr;
  std::uint32_t* u = nullptr;
  std::uint32_t n = 0;
};

inline constexpr const char* kKernelPrologue =
    "struct TestParams { float* f; parity::u32* u; parity::u32 n; };\n"
    "using namespace parity;\n";

/// The execution model's texts, the prologue, and `body`.
inline std::string simt_text(const std::string& body) {
  std::string text;
  for (const std::string_view wanted : {"host_abi.cuh", "simt.cuh"})
    for (const auto& [name, content] : kernel_texts()) {
      if (name != wanted) continue;
      std::istringstream lines{std::string(content)};
      for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("#include") && !line.starts_with("#pragma once")) text += line + "\n";
    }
  return text + kKernelPrologue + body;
}

/// The number of the one line of `text` that contains `marker`, from 1; 0 if there is none.
inline int line_of(const std::string& text, const std::string& marker) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);)
    if (++number; line.find(marker) != std::string::npos) return number;
  return 0;
}

/// Whether `message` holds all of `parts`.
inline testing::AssertionResult says(const std::string& message,
                                     std::initializer_list<std::string> parts) {
  for (const std::string& part : parts)
    if (message.find(part) == std::string::npos)
      return testing::AssertionFailure() << "'" << part << "' is not in '" << message << "'";
  return testing::AssertionSuccess();
}

/// What the E that `action` throws says; empty when it throws nothing.
template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
    return "";
  } catch (const E& error) {
    return error.what();
  }
}

/// A folder of its own for each test process, removed at the end.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "parity-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw DeviceError("no temporary folder '" + name + "'");
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Compiles `body`, which defines the kernel "probe" over TestParams.
class HostKernel {
 public:
  explicit HostKernel(const std::string& body) : text(simt_text(body)) {
    const std::filesystem::path source = folder_.write("probe.cu", text);
    const std::vector<std::byte> image = make_host_toolchain()->compile(text, source.string());
    const std::string bytes(reinterpret_cast<const char*>(image.data()), image.size());
    module_ = backend->load(folder_.write("probe.so", bytes), "probe");
  }

  void run(const TestParams& params, std::uint32_t threads, Dim3 grid = {},
           std::size_t shared_bytes = 0) {
    backend->launch(*module_,
                    {.grid = grid, .block = {threads, 1, 1}, .shared_bytes = shared_bytes}, &params,
                    sizeof params);
  }

  /// What the launch says is wrong; empty when it succeeds.
  std::string error(std::uint32_t threads, Dim3 grid = {}, const TestParams& params = {}) {
    try {
      run(params, threads, grid);
      return "";
    } catch (const DeviceError& error) {
      return error.what();
    }
  }

  int line(const std::string& marker) const { return line_of(text, marker); }
  Module& module() { return *module_; }

  const std::string text;
  const std::unique_ptr<Backend> backend = make_host_backend();

 private:
  TestFolder folder_;
  std::unique_ptr<Module> module_;
};

}  // namespace parity
