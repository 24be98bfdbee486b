// Who may include whom. The checker is tried on planted violations, then on the tree.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/source_tree.hpp"

namespace parity {
namespace {

/// The layer that a file of ours belongs to; "" for what is no room of ours. What stands in
/// harness/ and is not named here is core, the strictest.
std::string layer_of(std::string_view path) {
  const std::string_view room = path.substr(0, path.find('/'));
  if (room.size() == path.size()) return "";
  const std::string_view rest = path.substr(room.size() + 1);
  if (room == "datasets") {
    const bool pack =
        rest.starts_with("pack") || rest.starts_with("hdf5_") || rest.starts_with("file_image");
    return pack ? "pack" : "data";
  }
  if (room != "harness") {
    static const std::set<std::string_view> rooms = {"device", "reference", "reports", "tests"};
    return rooms.contains(room) ? std::string(room) : "";
  }
  const std::string_view stem = rest.substr(0, rest.find('.'));
  if (rest.starts_with("audit/")) return "audit";
  if (rest.starts_with("kernels/") || rest.starts_with("plants/")) return "kernels";
  if (stem == "worker" || (stem.starts_with("worker_") && !stem.starts_with("worker_process"))) {
    return "kernels";
  }
  static const std::set<std::string_view> program_stems = {
      "main", "options", "commands", "session", "progress", "interrupt", "duration"};
  const bool program = program_stems.contains(stem) || stem.ends_with("_command") ||
                       stem.ends_with("_options") || stem.starts_with("night_");
  return program ? "program" : "core";
}

const std::set<std::string>& may_include(const std::string& layer) {
  static const std::set<std::string> all = {"data",    "pack",  "device",  "reference", "core",
                                            "kernels", "audit", "reports", "program",   "tests"};
  static const std::map<std::string, std::set<std::string>> table = {
      {"data", {"data"}},
      {"pack", {"data", "pack"}},
      {"device", {"data", "device"}},
      {"reference", {"data", "reference"}},
      {"core", {"data", "pack", "core"}},
      {"kernels", {"data", "pack", "core", "device", "reference", "kernels"}},
      {"audit", {"data", "pack", "core", "device", "kernels", "audit"}},
      {"reports", {"data", "pack", "core", "reports"}},
  };
  const auto found = table.find(layer);
  return found == table.end() ? all : found->second;
}

/// The library whose headers only one layer may see; "" for all others.
std::string guarded_library(std::string_view included) {
  if (included.starts_with("nlohmann/")) return "JSON";
  if (included.starts_with("Eigen/") || included.starts_with("unsupported/Eigen/")) return "Eigen";
  if (included == "hdf5.h" || included.starts_with("hdf5") || included.starts_with("H5")) {
    return "HDF5";
  }
  if (included.starts_with("cuda") || included.starts_with("cu/") || included == "nvrtc.h" ||
      included.starts_with("cooperative_groups")) {
    return "CUDA";
  }
  return "";
}

/// Why this file may not have this include; "" if it may. Tests may take files apart with any
/// library.
std::string violation(const std::string& path, const std::string& included) {
  static const std::map<std::string, std::string> home = {
      {"Eigen", "reference"}, {"HDF5", "pack"}, {"CUDA", "device"}};
  const std::string layer = layer_of(path);
  if (layer == "tests") return "";
  if (const std::string library = guarded_library(included); !library.empty()) {
    const auto owner = home.find(library);
    const bool foreign = owner != home.end() && owner->second != layer;
    return foreign ? library + " belongs to " + owner->second : "";
  }
  const std::string other = layer_of(included);
  if (other.empty() || layer.empty() || may_include(layer).contains(other)) return "";
  return layer + " may not include " + other;
}

/// Headers that bring a guarded library with them, by themselves or through others, and which one.
std::map<std::string, std::string> carrying_headers(const std::vector<SourceFile>& files) {
  std::map<std::string, std::string> carrying;
  for (std::size_t known = files.size() + 1; known != carrying.size();) {
    known = carrying.size();
    for (const SourceFile& file : files) {
      if (!file.path.ends_with(".hpp")) continue;
      for (const auto& [line, included] : file.includes()) {
        const auto through = carrying.find(included);
        const std::string library =
            through != carrying.end() ? through->second : guarded_library(included);
        if (!library.empty()) carrying.emplace(file.path, library);
      }
    }
  }
  return carrying;
}

/// A layer may keep a header of its own that shows a library; no other layer may include that one.
std::vector<std::string> violations(const std::vector<SourceFile>& files) {
  const std::map<std::string, std::string> carrying = carrying_headers(files);
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    const std::string layer = layer_of(file.path);
    for (const auto& [line, included] : file.includes()) {
      std::string reason = violation(file.path, included);
      const auto carried = carrying.find(included);
      if (reason.empty() && carried != carrying.end() && layer_of(included) != layer &&
          layer != "tests") {
        reason = "brings " + carried->second + " out of " + layer_of(included);
      }
      if (reason.empty()) continue;
      found.push_back(file.path + ":" + std::to_string(line) + ": " + included + ": " + reason);
    }
  }
  return found;
}

TEST(LayeringTest, NothingPointsBack) {
  EXPECT_EQ(violation("datasets/tensor.cpp", "datasets/pack.hpp"), "data may not include pack");
  EXPECT_EQ(violation("datasets/pack_reader.cpp", "harness/case.hpp"), "pack may not include core");
  EXPECT_EQ(violation("device/arena.hpp", "harness/case.hpp"), "device may not include core");
  EXPECT_EQ(violation("device/arena.hpp", "datasets/pack.hpp"), "device may not include pack");
  EXPECT_EQ(violation("reference/paged_decode.cpp", "device/variant.hpp"),
            "reference may not include device");
  EXPECT_EQ(violation("reports/json_writer.cpp", "device/runtime.hpp"),
            "reports may not include device");
  EXPECT_EQ(violation("harness/worker.cpp", "harness/options.hpp"),
            "kernels may not include program");
  EXPECT_EQ(violation("harness/kernels/launch_variant.hpp", "harness/audit/key_audit.hpp"),
            "kernels may not include audit");
  EXPECT_EQ(violation("harness/audit/key_audit.cpp", "reference/paged_decode.hpp"),
            "audit may not include reference");
  EXPECT_EQ(violation("reports/report.hpp", "tests/sample_report.hpp"),
            "reports may not include tests");
}

TEST(LayeringTest, CoreKnowsNoDeviceAndNoReference) {
  for (const char* core :
       {"harness/judge.cpp", "harness/worker_process.cpp", "harness/paths.hpp"}) {
    EXPECT_EQ(violation(core, "device/runtime.hpp"), "core may not include device");
    EXPECT_EQ(violation(core, "reference/paged_decode.hpp"), "core may not include reference");
    EXPECT_EQ(violation(core, "harness/plants/plants.hpp"), "core may not include kernels");
    EXPECT_EQ(violation(core, "harness/audit/key_audit.hpp"), "core may not include audit");
  }
}

TEST(LayeringTest, LayersSeeWhatTheyStandOn) {
  EXPECT_EQ(violation("harness/worker.cpp", "device/runtime.hpp"), "");
  EXPECT_EQ(violation("harness/kernels/paged_decode_v1.cpp", "reference/paged_decode.hpp"), "");
  EXPECT_EQ(violation("harness/audit/compile_audit.cpp", "device/toolchain.hpp"), "");
  EXPECT_EQ(violation("harness/run_command.cpp", "device/runtime.hpp"), "");
  EXPECT_EQ(violation("harness/judge.hpp", "datasets/pack.hpp"), "");
  EXPECT_EQ(violation("device/arena.hpp", "sys/mman.h"), "");
}

TEST(LayeringTest, LibrariesStayInTheirRooms) {
  EXPECT_EQ(violation("datasets/pack_writer.cpp", "hdf5.h"), "");
  EXPECT_EQ(violation("harness/judge.cpp", "hdf5.h"), "HDF5 belongs to pack");
  EXPECT_EQ(violation("datasets/tensor.cpp", "hdf5.h"), "HDF5 belongs to pack");
  EXPECT_EQ(violation("reference/paged_decode.cpp", "Eigen/Dense"), "");
  EXPECT_EQ(violation("device/arena.cpp", "Eigen/Dense"), "Eigen belongs to reference");
  EXPECT_EQ(violation("device/cuda_backend.cpp", "cuda_runtime_api.h"), "");
  EXPECT_EQ(violation("harness/worker.cpp", "cuda.h"), "CUDA belongs to device");
  EXPECT_EQ(violation("harness/protocol.cpp", "nlohmann/json.hpp"), "");
}

TEST(LayeringTest, ViolationInATreeIsFoundWithItsLine) {
  const std::vector<SourceFile> planted = {
      {"harness/judge.cpp",
       {"// text", "#include <map>", "  # include \"device/arena.hpp\"  // x"}}};
  EXPECT_EQ(violations(planted),
            (std::vector<std::string>{
                "harness/judge.cpp:3: device/arena.hpp: core may not include device"}));
}

TEST(LayeringTest, LibraryLeavesNoLayerThroughAHeader) {
  const std::vector<SourceFile> planted = {
      {"datasets/pack.hpp", {"#include \"datasets/pack_layout.hpp\""}},
      {"datasets/pack_layout.hpp", {"#include <hdf5.h>"}},
      {"datasets/pack_reader.cpp", {"#include \"datasets/pack_layout.hpp\""}},
      {"harness/judge.hpp", {"#include \"datasets/pack.hpp\""}},
      {"tests/pack_test.cpp", {"#include \"datasets/pack_layout.hpp\""}}};
  EXPECT_EQ(
      violations(planted),
      std::vector<std::string>{"harness/judge.hpp:1: datasets/pack.hpp: brings HDF5 out of pack"});
}

TEST(LayeringTest, TheTreeKeepsItsLayers) {
  const std::vector<SourceFile> files = source_tree(PARITY_SOURCE_DIR);
  ASSERT_GT(files.size(), 50u) << "looked in " << PARITY_SOURCE_DIR;
  EXPECT_EQ(violations(files), std::vector<std::string>{});
}

}  // namespace
}  // namespace parity
