// The one description of a kernel, from which listing, goldens, permuted runs, tests and coverage
// derive.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/pack.hpp"
#include "datasets/tensor.hpp"

namespace parity {

class Runtime;         // device/runtime.hpp; the core only passes it through
struct DeviceTensors;  // device/device_tensor.hpp
struct VariantSpec;    // device/variant.hpp
struct LaunchVariant;  // harness/kernels/launch_variant.hpp
struct Case;

struct DtypeAxis {
  std::string name;
  std::vector<Dtype> values;
  /// An axis before this one; ids leave this one out where both have the same dtype. Empty: ids
  /// always name this one.
  std::string same_as = {};
};

/// A constant or shape. `values` are those of suite full; any value >= 0 parses, the kernel refuses
/// what it cannot do. A schedule axis says how, not what, is computed (pages per chunk, splits,
/// where a pool's elements lie): it does not enter the data seed.
struct ConstantAxis {
  std::string name;
  std::vector<std::int64_t> values;
  bool schedule = false;
  /// words[i] is what ids write for the value first_word + i ("auto"); other values are numbers.
  /// Where every value of suite full has a word, no other value exists.
  std::vector<std::string> words = {};
  /// Ids leave the axis out where it has this value. Nothing: ids always name it.
  std::optional<std::int64_t> usual = {};
  std::int64_t first_word = 0;
};

/// What values must fulfil to be a case.
struct Requirement {
  std::vector<std::string> axes;  ///< dtype axes, constants or "recipe"; `holds` reads no others
  std::string text;               ///< "hq must be a multiple of hkv"
  std::function<bool(const Case&)> holds;
};

/// An input before it is made.
struct InputType {
  std::string name;
  TensorType type;

  bool operator==(const InputType&) const = default;
};

/// What the reference says of one case.
struct ReferenceResult {
  std::vector<PackOutput> outputs;  ///< expected and bound filled in
  /// Answers that a broken kernel would plausibly give (f64, by output name); each must be rejected
  /// by the judge at >= 4 times the tolerance, or the case is refused. The generic ones (all zero,
  /// x 1.05) are added by the pack builder.
  std::vector<std::pair<std::string, TensorList>> wrong_answers;
  /// Set when the data measures cancellation rather than the kernel; the case is refused with this
  /// reason.
  std::string refused;
};

/// A plain value with designated initialisers; see harness/kernels/*.cpp.
struct KernelSpec {
  std::string name;
  std::string operation;          ///< kernels of one operation share inputs and expected output
  std::vector<DtypeAxis> dtypes;  ///< in the order of the dtypes of its first module
  std::vector<ConstantAxis> constants;
  std::vector<std::string> recipes;
  /// Of `recipes`, those that suite full does not combine with all axes.
  std::vector<std::string> uncombined_recipes = {};
  /// Recipes whose answer is exact (empty rows, NaN): wrong answers need not be told apart.
  std::vector<std::string> degenerate_recipes;
  /// Ids of suite smoke, in registry order.
  std::vector<std::string> smoke;
  /// Ids that suite full has beside smoke and the combination of all axes: shapes of real models.
  std::vector<std::string> published = {};
  /// Whether a combination of axis values is a case at all (suite full takes only those).
  std::vector<Requirement> requirements;
  /// Inputs: a pure function of the case's data part.
  std::function<TensorList(const Case&)> inputs;
  /// Names and types of what `inputs` makes, in its order: what a case costs is known, and bounded,
  /// without making it. Without this its inputs are made for that.
  std::function<std::vector<InputType>(const Case&)> input_types = {};
  /// Outputs' names, types and rules, without values.
  std::function<std::vector<PackOutput>(const Case&)> outputs;
  std::function<ReferenceResult(const Case&, const TensorList& inputs)> reference;
  /// The modules a launch needs, at any schedule.
  std::function<std::vector<VariantSpec>(const Case&)> modules;
  /// Launches on buffers named like inputs and outputs; returns the resolved plan.
  std::function<std::string(Runtime&, const Case&, const DeviceTensors&)> launch;
  /// The public launch function, as a person would look it up: "parity::paged_decode_v1".
  std::string entry_point;
  /// Every module that the public launch function can ask for, over all its compile-time arguments,
  /// also those that no case has. The audit refuses a kernel without.
  std::function<std::vector<LaunchVariant>()> variants = {};
  /// Local memory (stack frame, spilled registers) that a thread may use on a GPU, in bytes.
  std::int64_t local_bytes = 0;
};

/// Every kernel, in registry order (generated from CMake's kernel list, in parity_kernels).
std::span<const KernelSpec> registry();

}  // namespace parity
