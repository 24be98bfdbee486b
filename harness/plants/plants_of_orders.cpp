// Plants whose fault shows in some orders only.
#include <array>

#include "device/faults.hpp"
#include "harness/plants/plants.hpp"

namespace parity {
namespace {

constexpr std::string_view kF32 =
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged";
constexpr std::string_view kF16 =
    "paged_decode_v1/q=f32,k=f32,v=f16/d=64,hq=8,hkv=2,page=16/ragged";
constexpr std::string_view kBf16 =
    "paged_decode_v1/q=f32,k=f32,v=bf16/d=64,hq=8,hkv=2,page=16/ragged";
/// Reads f32 values as well, but is another case.
constexpr std::string_view kOtherF32 =
    "paged_decode_v1/q=f32,k=f16,v=f32/d=64,hq=8,hkv=2,page=16/ragged";
/// Of other constants.
constexpr std::string_view kShort =
    "paged_decode_v1/q=bf16,k=bf16,v=bf16/d=64,hq=2,hkv=2,page=1/short";

constexpr std::array kValues = {kF32, kF16, kBf16, kOtherF32};
constexpr std::array kThree = {kF32, kF16, kBf16};
constexpr std::array kTwo = {kF32, kF16};
constexpr std::array kOne = {kF32};
constexpr std::array kTwice = {kF32, kF32};
constexpr std::array kConstants = {kF32, kF16, kOtherF32, kShort};

using namespace std::string_view_literals;
constexpr std::array kAfterF16 = {"*v=f16/*"sv, "!*v=f16/*"sv};
constexpr std::array kF16ThenF32 = {"*v=f16/*"sv, "*v=f32/*"sv};
constexpr std::array kF16ThenF16 = {"*v=f16/*"sv, "*v=f16/*"sv};
constexpr std::array kBothThenF32 = {"*v=f16/*"sv, "*v=bf16/*"sv, "*v=f32/*"sv};
constexpr std::array kEqualConstants = {"*/d=64,hq=8,*"sv, "*/d=64,hq=8,*"sv};

/// The first two need more workspace than the others, rows of which have no tokens.
constexpr std::array kSplits = {
    "paged_decode_v2/q=bf16,k=f16,v=f32/d=128,hq=10,hkv=2,page=1,softcap=5,ppc=16/ragged"sv,
    "paged_decode_v2/q=bf16,k=bf16,v=f32/d=128,hq=10,hkv=2,page=1,softcap=5,ppc=16/ragged"sv,
    "paged_decode_v2/q=f16,k=f16,v=f16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged"sv,
    "paged_decode_v2/q=f16,k=f16,v=bf16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged"sv,
};
constexpr std::array kLargeThenSmall = {"*hq=10,*"sv, "!*hq=10,*"sv};

/// The first two differ in a dtype, the first and the third in the page size; the last tunes
/// nothing.
constexpr std::array kTuned = {
    "paged_decode_v2/q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=16,ppc=tuned/ragged"sv,
    "paged_decode_v2/q=f16,k=f32,v=f16/d=256,hq=2,hkv=1,page=16,ppc=tuned/ragged"sv,
    "paged_decode_v2/q=f16,k=f16,v=f16/d=256,hq=2,hkv=1,page=8,ppc=tuned/ragged"sv,
    "paged_decode_v2/q=f16,k=f16,v=f16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged"sv,
};
constexpr std::array kEqualPages = {"*page=16,ppc=tuned*"sv, "*page=16,ppc=tuned*"sv};
constexpr std::array kEqualDtypes = {"*k=f16*ppc=tuned*"sv, "*k=f16*ppc=tuned*"sv};

/// The first two differ in their pools' shape; the last is launched without a graph.
constexpr std::array kGraphs = {
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16,graph=1/ragged"sv,
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16,layout=hnd,graph=1/ragged"sv,
    kF32,
};
/// Pairs of one vocabulary whose logits or probs differ in their dtype.
constexpr std::array kGumbels = {
    "gumbel_max_sample/logits=f32/v=4097,b=3,splits=auto/plain"sv,
    "gumbel_max_sample/logits=f16/v=4097,b=3,splits=auto/plain"sv,
};
constexpr std::array kRejections = {
    "rejection_sample/probs=f16,filter=bf16/v=513,b=64,draw=none,order=joint,splits=1/ordinary"sv,
    "rejection_sample/probs=f32,filter=bf16/v=513,b=64,draw=none,order=joint,splits=1/ordinary"sv,
};
constexpr std::array kSamplers = {kGumbels[0], kGumbels[1], kRejections[0], kRejections[1]};
constexpr std::array kAnyThenAny = {"*"sv, "*"sv};
constexpr std::array kSampledF16ThenOther = {"*=f16*"sv, "!*=f16*"sv};

constexpr std::array kGraphThenGraph = {"*graph=1*"sv, "*graph=1*"sv};

constexpr std::array<Plant, 21> kPlants = {{
    {.name = "weak_module_key",
     .what =
         "Modules are kept by kernel name and integer constants, so the first dtypes to compile "
         "win.",
     .fault = &Faults::weak_module_key,
     .leak_class = "first-wins",
     .expected_fingerprint = "",
     .expected_carrier = "module_cache",
     .expected_grade = "confirmed",
     .cases = kConstants,
     .sequence = kEqualConstants},
    {.name = "weak_module_key_gumbel",
     .what = "The same, seen by gumbel_max_sample: two models, one vocabulary, two logits dtypes.",
     .fault = &Faults::weak_module_key,
     .leak_class = "first-wins",
     .expected_carrier = "module_cache",
     .expected_grade = "confirmed",
     .cases = kGumbels,
     .sequence = kAnyThenAny},
    {.name = "weak_module_key_rejection",
     .what = "The same, seen by rejection_sample: two models, one vocabulary, two probs dtypes.",
     .fault = &Faults::weak_module_key,
     .leak_class = "first-wins",
     .expected_carrier = "module_cache",
     .expected_grade = "confirmed",
     .cases = kRejections,
     .sequence = kAnyThenAny},
    {.name = "memo_without_dtype",
     .what = "The autotune memo keeps plans by all but the dtypes, so the first dtypes to be tuned "
             "decide for all.",
     .fault = &Faults::memo_without_dtype,
     .leak_class = "first-wins",
     .expected_fingerprint = "plan",
     .expected_carrier = "autotune_memo",
     .expected_grade = "confirmed",
     .cases = kTuned,
     .sequence = kEqualPages},
    {.name = "memo_without_page_size",
     .what = "The autotune memo keeps plans by all but the page size, so the first page size to be "
             "tuned decides for all.",
     .fault = &Faults::memo_without_page_size,
     .leak_class = "first-wins",
     .expected_fingerprint = "plan",
     .expected_carrier = "autotune_memo",
     .expected_grade = "confirmed",
     .cases = kTuned,
     .sequence = kEqualDtypes},
    {.name = "graph_without_shape",
     .what =
         "Graphs are kept by the modules that they launch, so the first shape to be captured is "
         "replayed for all.",
     .fault = &Faults::graph_without_shape,
     .leak_class = "first-wins",
     .expected_carrier = "graph_cache",
     .expected_grade = "necessary",
     .cases = kGraphs,
     .sequence = kGraphThenGraph},
    {.name = "unlocked_first_use",
     .what = "A module's entry is published before its module: another host thread that asks "
             "meanwhile goes on without it.",
     .fault = &Faults::unlocked_first_use,
     .leak_class = "first-wins",
     .expected_fingerprint = "error",
     .expected_carrier = "module_cache",
     .expected_grade = "correlated",
     .cases = kOne,
     .sequence = kTwice,
     .threads = 4},
    {.name = "dirty_workspace",
     .what = "A split leaves the partials of rows without tokens as an earlier run left the "
             "workspace.",
     .fault = &Faults::dirty_workspace,
     .leak_class = "last-writer",
     .expected_fingerprint = "",
     .expected_carrier = "workspace_pool",
     .expected_grade = "confirmed",
     .cases = kSplits,
     .sequence = kLargeThenSmall},
    {.name = "environment_not_restored",
     .what = "A launch on f16 values leaves an environment variable that launches on others read.",
     .fault = &Faults::environment_not_restored,
     .leak_class = "last-writer",
     .expected_carrier = "environment",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kAfterF16},
    {.name = "working_directory_not_restored",
     .what = "A launch on f16 values leaves another working directory, where launches on others "
             "find something else.",
     .fault = &Faults::working_directory_not_restored,
     .leak_class = "last-writer",
     .expected_carrier = "working_directory",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kAfterF16},
    {.name = "rounding_mode_not_restored",
     .what = "A launch on f16 values leaves the host rounding up: other bits inside the tolerance.",
     .fault = &Faults::rounding_mode_not_restored,
     .leak_class = "last-writer",
     .expected_fingerprint = "bits",
     .expected_carrier = "floating_point_environment",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kAfterF16},
    {.name = "constant_left_over",
     .what = "A launch on f16 values leaves a device constant that launches on others read.",
     .fault = &Faults::constant_left_over,
     .leak_class = "last-writer",
     .expected_carrier = "device_constants",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kAfterF16},
    {.name = "cleaner_in_between",
     .what = "The same, but launches on bf16 values erase the constant.",
     .fault = &Faults::cleaner_in_between,
     .leak_class = "last-writer",
     .expected_carrier = "device_constants",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kF16ThenF32},
    {.name = "two_polluters",
     .what = "f16 values leave one device constant, bf16 values another; f32 errs after both.",
     .fault = &Faults::two_polluters,
     .leak_class = "sticky",
     .expected_carrier = "device_constants",
     .expected_grade = "confirmed",
     .cases = kValues,
     .sequence = kBothThenF32,
     .any_order = true},
    {.name = "brittle",
     .what = "Launches on f32 values are right only where one on f16 values has left a constant.",
     .fault = &Faults::brittle,
     .leak_class = "sticky",
     .expected_carrier = "device_constants",
     .expected_grade = "confirmed",
     .expected_role = "brittle",
     .cases = kValues,
     .sequence = kF16ThenF32},
    {.name = "drift",
     .what =
         "After a run on f16 values, runs on other dtypes give other bits inside the tolerance.",
     .fault = &Faults::drift,
     .leak_class = "sticky",
     .expected_fingerprint = "bits",
     .cases = kValues,
     .sequence = kAfterF16},
    {.name = "rng_offset_carry",
     .what =
         "Sampling from f16 draws from a stream that the engine keeps, and other samplings take "
         "their steps from where it stands.",
     .fault = &Faults::rng_offset_carry,
     .leak_class = "counter",
     .expected_carrier = "rng_streams",
     .expected_grade = "confirmed",
     .cases = kSamplers,
     .sequence = kSampledF16ThenOther},
    {.name = "self_pollution",
     .what = "A launch on f16 values errs where one has run before, itself if need be.",
     .fault = &Faults::self_pollution,
     .leak_class = "counter",
     .expected_carrier = "device_constants",
     .expected_grade = "confirmed",
     .cases = kThree,
     .sequence = kF16ThenF16},
    {.name = "race_90",
     .what = "After f16 values, others err in nine of ten processes.",
     .fault = &Faults::race_90,
     .leak_class = "race",
     .by_chance = true,
     .cases = kThree,
     .sequence = kAfterF16,
     .random_orders = 12},
    {.name = "race_30",
     .what = "After f16 values, others err in three of ten processes.",
     .fault = &Faults::race_30,
     .leak_class = "race",
     .by_chance = true,
     .may_be_unstable = true,
     .cases = kTwo,
     .sequence = kAfterF16,
     .random_orders = 64},
    {.name = "last_error_left_over",
     .what = "A launch on f16 values leaves a CUDA error that nobody asks about; others ask and "
             "take it for their own.",
     .fault = &Faults::last_error_left_over,
     .leak_class = "sticky",
     .expected_fingerprint = "error",
     .expected_carrier = "cuda_last_error",
     .expected_grade = "necessary",
     .cases = kValues,
     .sequence = kAfterF16,
     .backend = "cuda"},
}};

}  // namespace

std::span<const Plant> plants_of_orders() {
  return kPlants;
}

}  // namespace parity
