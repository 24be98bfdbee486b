// One kernel text through NVRTC on a GPU and through the host's compiler: the same answers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device/arena.hpp"
#include "device/no_device.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "harness/judge.hpp"
#include "tests/test_home.hpp"

namespace parity {
namespace {

/// A case's outputs, as a worker gets them.
TensorList outputs_of(Runtime& runtime, const Case& c, const TensorList& inputs,
                      const std::vector<PackOutput>& outputs) {
  std::vector<ArenaBuffer> buffers;
  for (const NamedTensor& input : inputs)
    buffers.push_back({input.name, input.tensor.type(), input.tensor.bytes()});
  for (const PackOutput& output : outputs) buffers.push_back({output.name, output.type, {}});
  Arena arena(runtime.backend());
  const DeviceTensors placed = arena.begin(buffers, Poison::ones);
  c.spec->launch(runtime, c, placed);
  runtime.backend().synchronize();
  return arena.inspect().outputs;
}

/// Over all cases of a kernel, for one output.
struct Difference {
  std::int64_t elements = 0;
  std::int64_t equal = 0;   ///< bit for bit, or both without a finite value
  double relative = 0.0;    ///< worst |a - b| / the output's largest |b|
  double of_allowed = 0.0;  ///< worst |a - b| / (2·(half spacing + bound))
  std::string worst = "";   ///< the case of `of_allowed`
};

void compare(const std::string& id, const PackOutput& output, const Tensor& gpu, const Tensor& host,
             Difference& all) {
  double largest = 0.0;
  for (std::int64_t i = 0; i < host.elements(); ++i)
    if (std::isfinite(host.at(i))) largest = std::max(largest, std::abs(host.at(i)));
  for (std::int64_t i = 0; i < host.elements(); ++i) {
    const double a = gpu.at(i), b = host.at(i);
    ++all.elements;
    ASSERT_EQ(std::isfinite(a), std::isfinite(b)) << id << ": " << output.name << "[" << i << "]";
    if (a == b || !std::isfinite(a)) {
      ++all.equal;
      continue;
    }
    if (output.rule == OutputRule::exact) continue;  // each has been judged; either may be right
    const double allowed = 2.0 * (half_spacing(output.type.dtype, b) + output.bound->at(i));
    all.relative = std::max(all.relative, std::abs(a - b) / largest);
    if (std::abs(a - b) / allowed <= all.of_allowed) continue;
    all.of_allowed = std::abs(a - b) / allowed;
    all.worst = id;
  }
}

TEST(TwoToolchainsTest, SmokeOnAGpuIsSmokeOnTheHost) {
  std::unique_ptr<Runtime> gpu;
  try {
    gpu = make_runtime(BackendKind::cuda, test::test_home() / "modules");
  } catch (const NoDevice& none) {
    GTEST_SKIP() << none.what();
  }
  const auto host = make_runtime(BackendKind::host, test::test_home() / "modules");
  std::map<std::pair<std::string, std::string>, Difference> differences;
  for (const Case& c : suite_cases(registry(), Suite::smoke)) {
    const TensorList inputs = c.spec->inputs(c);
    const std::vector<PackOutput> wanted = c.spec->reference(c, inputs).outputs;
    const TensorList on_gpu = outputs_of(*gpu, c, inputs, wanted);
    const TensorList on_host = outputs_of(*host, c, inputs, wanted);
    for (const PackOutput& output : wanted) {
      const Tensor& a = find(on_gpu, output.name);
      const Tensor& b = find(on_host, output.name);
      EXPECT_NE(judge_output(output, a).verdict, Verdict::failed) << c.id();
      EXPECT_NE(judge_output(output, b).verdict, Verdict::failed) << c.id();
      const std::string dtype(name(output.type.dtype));
      compare(c.id(), output, a, b, differences[{c.spec->name, output.name + " " + dtype}]);
    }
  }
  fmt::print("{:<16} {:<10} {:>9} {:>7} {:>10} {:>10}\n", "kernel", "output", "elements", "equal",
             "relative", "of allowed");
  for (const auto& [what, d] : differences) {
    fmt::print("{:<16} {:<10} {:>9} {:>6.2f}% {:>10.3g} {:>10.3g}  {}\n", what.first, what.second,
               d.elements, 100.0 * static_cast<double>(d.equal) / static_cast<double>(d.elements),
               d.relative, d.of_allowed, d.worst);
    EXPECT_LE(d.of_allowed, 1.0) << d.worst;
  }
}

}  // namespace
}  // namespace parity
