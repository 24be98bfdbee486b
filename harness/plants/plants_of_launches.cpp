// Plants whose fault shows in a launch by itself, whatever ran before.
#include <array>

#include "device/faults.hpp"
#include "harness/plants/plants.hpp"

namespace parity {
namespace {

/// A struck case of a kernel whose output a later launch writes and one of that, with their twins.
constexpr std::array<std::string_view, 4> kStruckPairs = {
    "paged_decode_v2/q=f16,k=f16,v=f16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged",
    "paged_decode_v2/q=f16,k=f16,v=bf16/d=64,hq=2,hkv=1,page=8,ppc=3/ragged",
    "split_kv_merge/v=f32,out=bf16/d=96,h=3/ragged",
    "split_kv_merge/v=f16,out=bf16/d=96,h=3/ragged",
};
constexpr Globs kOnePair = Globs(kStruckPairs).first(2);

constexpr std::array<std::string_view, 2> kNoisy = {
    "paged_decode_v1/q=f32,k=f32,v=f32/d=64,hq=8,hkv=2,page=16/ragged",
    "paged_decode_v1/q=f32,k=f32,v=f16/d=64,hq=8,hkv=2,page=16/ragged",
};
/// The last has f32 logits, whose dtype the noise has anyway.
constexpr std::array<std::string_view, 3> kDuels = {
    "gumbel_max_sample/logits=bf16/v=256,b=64,splits=1/duel",
    "gumbel_max_sample/logits=f16/v=256,b=64,splits=1/duel",
    "gumbel_max_sample/logits=f32/v=4097,b=3,splits=auto/plain",
};
constexpr std::array<std::string_view, 1> kHalves = {"!*=f32*"};
constexpr std::array<std::string_view, 1> kAny = {"*"};

constexpr std::array<Plant, 8> kPlants = {{
    {.name = "unwritten_output",
     .what = "The launch that writes the output lacks its last block.",
     .fault = &Faults::unwritten_output,
     .leak_class = "alone",
     .expected_kind = "hygiene",
     .expected_fingerprint = "unwritten",
     .cases = kStruckPairs},
    {.name = "overrun",
     .what = "The kernel writes behind the end of its output.",
     .fault = &Faults::overrun,
     .leak_class = "alone",
     .expected_kind = "hygiene",
     .expected_fingerprint = "guard",
     .cases = kStruckPairs},
    {.name = "input_overwritten",
     .what = "The kernel writes into its input.",
     .fault = &Faults::input_overwritten,
     .leak_class = "alone",
     .expected_kind = "hygiene",
     .expected_fingerprint = "input",
     .cases = kStruckPairs},
    {.name = "abort",
     .what = "The process aborts in the launch.",
     .fault = &Faults::abort,
     .leak_class = "alone",
     .expected_kind = "crash",
     .expected_fingerprint = "crash",
     .cases = kStruckPairs},
    {.name = "hang",
     .what = "The launch does not return.",
     .fault = &Faults::hang,
     .leak_class = "alone",
     .expected_kind = "timeout",
     .expected_fingerprint = "timeout",
     .cases = kOnePair,
     .deadline = "2s"},
    {.name = "sticky_error",
     .what = "The kernel reads a null pointer, after which the device answers this process with "
             "errors only.",
     .fault = &Faults::sticky_error,
     .leak_class = "alone",
     .expected_kind = "crash",
     .expected_fingerprint = "crash",
     .cases = kStruckPairs},
    {.name = "noise_in_logits_dtype",
     .what = "gumbel_max_sample rounds its noise to the dtype of the logits, which makes ties.",
     .fault = &Faults::noise_in_logits_dtype,
     .leak_class = "alone",
     .expected_kind = "mismatch",
     .cases = kDuels,
     .sequence = kHalves},
    {.name = "atomics_noise",
     .what = "The bits of every run vary inside the tolerance; well where the person permits it "
             "(--noisy).",
     .fault = &Faults::atomics_noise,
     .leak_class = "noise",
     .expected_kind = "unstable",
     .expected_fingerprint = "bits",
     .cases = kNoisy,
     .sequence = kAny,
     .random_orders = 12},
}};

}  // namespace

std::span<const Plant> plants_of_launches() {
  return kPlants;
}

}  // namespace parity
