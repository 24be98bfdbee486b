// A folder, a few cases and a child process for tests of packs.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "datasets/fill.hpp"
#include "datasets/pack.hpp"

namespace parity {

namespace fs = std::filesystem;

inline const Provenance kProvenance = {.build = "0123abcd", .reference = "eigen 3.4.0"};

/// A folder of its own for each test, removed at the end.
class PackTest : public testing::Test {
 protected:
  PackTest() {
    std::string pattern = fs::temp_directory_path() / "parity_pack_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ / "cases.h5";
  }
  ~PackTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    return names;
  }

  fs::path folder_;
  fs::path path_;
};

inline std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline PackInput input_of(const std::string& name, Tensor tensor) {
  const Digest sum = digest(tensor);
  return {name, tensor.type(), sum, std::move(tensor)};
}

inline PackInput normal_input(const std::string& name, Dtype dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  fill_normal(tensor, 7, name);
  return input_of(name, std::move(tensor));
}

inline Tensor ramp(Dtype dtype, Shape shape) {
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i));
  return tensor;
}

/// Small and chunked tensors, an empty and a scalar one; every name out of alphabetical order.
inline PackCase attention_case(const std::string& id) {
  PackCase result{id, "paged_decode", "ragged3", 0xfedcba9876543210, {}, {}};
  result.reference = "7";
  result.inputs.push_back(normal_input("q", Dtype::bf16, {3, 8, 64}));
  result.inputs.push_back(normal_input("k_pages", Dtype::f16, {5, 16, 2, 64}));
  result.inputs.push_back(normal_input("a_scalar", Dtype::f32, {}));
  result.inputs.push_back(input_of("page_indices", ramp(Dtype::i32, {6})));
  result.inputs.push_back(input_of("nothing", Tensor(Dtype::i32, {0})));
  PackOutput out{"out", {Dtype::bf16, {3, 8, 64}}, OutputRule::rows, {}, {}};
  out.expected = normal_input("expected", Dtype::f64, {3, 8, 64}).data;
  out.bound = Tensor(Dtype::f64, {3, 8, 64});
  out.expected->set(5, std::numeric_limits<double>::quiet_NaN());
  out.bound->set(5, std::numeric_limits<double>::infinity());
  PackOutput lse{"lse", {Dtype::f32, {3, 8}}, OutputRule::log_sum_exp, {}, {}};
  lse.expected = ramp(Dtype::f64, {3, 8});
  lse.expected->set(0, -std::numeric_limits<double>::infinity());
  lse.bound = Tensor(Dtype::f64, {3, 8});
  result.outputs = {out, lse};
  return result;
}

inline void write_pack(const fs::path& path, const std::vector<PackCase>& cases) {
  PackWriter writer(path, kProvenance);
  for (const PackCase& one : cases) writer.add(one);
  writer.commit();
}

inline void expect_equal(const PackCase& got, const PackCase& want) {
  EXPECT_EQ(got.id, want.id);
  EXPECT_EQ(got.operation, want.operation);
  EXPECT_EQ(got.recipe, want.recipe);
  EXPECT_EQ(got.seed, want.seed);
  EXPECT_EQ(got.reference, want.reference);
  ASSERT_EQ(got.inputs.size(), want.inputs.size());
  for (std::size_t i = 0; i < got.inputs.size(); ++i) {
    EXPECT_EQ(got.inputs[i].name, want.inputs[i].name);
    EXPECT_EQ(got.inputs[i].type, want.inputs[i].type);
    EXPECT_EQ(got.inputs[i].digest, want.inputs[i].digest);
    EXPECT_EQ(got.inputs[i].data, want.inputs[i].data);
  }
  ASSERT_EQ(got.outputs.size(), want.outputs.size());
  for (std::size_t i = 0; i < got.outputs.size(); ++i) {
    EXPECT_EQ(got.outputs[i].name, want.outputs[i].name);
    EXPECT_EQ(got.outputs[i].type, want.outputs[i].type);
    EXPECT_EQ(got.outputs[i].rule, want.outputs[i].rule);
    EXPECT_EQ(got.outputs[i].expected, want.outputs[i].expected);
    EXPECT_EQ(got.outputs[i].bound, want.outputs[i].bound);
  }
}

/// Gives changed bytes behind the user block a block that is right again, so that what HDF5 and the
/// reader themselves make of them is seen.
inline std::string resealed(const std::string& pack) {
  const std::string rest = pack.substr(std::min<std::size_t>(512, pack.size()));
  std::string block = "parity.pack/2\nxxh3-128 " + digest(std::string_view(rest)).hex() +
                      "\nbytes " + std::to_string(512 + rest.size()) + "\n";
  block.resize(512, '\0');
  return block + rest;
}

inline void reseal(const fs::path& path) {
  write_bytes(path, resealed(bytes_of(path)));
}

/// The message of the DatasetError that `action` throws.
inline std::string dataset_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const DatasetError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no DatasetError was thrown";
  return "";
}

inline void expect_one_line_naming(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

/// Runs `action` in a child process and returns its wait status: 0 unless it failed an expectation,
/// threw or died.
inline int in_child(const std::function<void()>& action) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    bool failed = false;
    try {
      action();
    } catch (...) {
      failed = true;  // the test's own stack belongs to the parent
    }
    std::fflush(stdout);
    ::_exit(failed || testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace parity
