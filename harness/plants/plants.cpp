// The plants by name.
#include "harness/plants/plants.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "datasets/errors.hpp"
#include "device/faults.hpp"

namespace parity {
namespace {

constexpr std::array<Plant, 12> kPlants = {{
    {.name = "weak_module_key",
     .what =
         "Modules are kept by kernel name and integer constants, so the first dtypes to compile "
         "win.",
     .fault = &Faults::weak_module_key,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "",
     .expected_carrier = "module_cache"},
    {.name = "drift",
     .what =
         "After a run on f16 values, runs on other dtypes give other bits inside the tolerance.",
     .fault = &Faults::drift,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "bits",
     .expected_carrier = ""},
    {.name = "dirty_workspace",
     .what = "A split leaves the partials of rows without tokens as an earlier run left the "
             "workspace.",
     .fault = &Faults::dirty_workspace,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "",
     .expected_carrier = "workspace_pool"},
    {.name = "memo_without_dtype",
     .what = "The autotune memo keeps plans by all but the dtypes, so the first dtypes to be tuned "
             "decide for all.",
     .fault = &Faults::memo_without_dtype,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "plan",
     .expected_carrier = "autotune_memo"},
    {.name = "memo_without_page_size",
     .what = "The autotune memo keeps plans by all but the page size, so the first page size to be "
             "tuned decides for all.",
     .fault = &Faults::memo_without_page_size,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "plan",
     .expected_carrier = "autotune_memo"},
    {.name = "unlocked_first_use",
     .what = "A module's entry is published before its module: another host thread that asks "
             "meanwhile goes on without it.",
     .fault = &Faults::unlocked_first_use,
     .expected_kind = "order_dependent",
     .expected_fingerprint = "error",
     .expected_carrier = "module_cache",
     .threads = 4},
    {.name = "unwritten_output",
     .what = "The launch that writes the output lacks its last block.",
     .fault = &Faults::unwritten_output,
     .expected_kind = "hygiene",
     .expected_fingerprint = "unwritten",
     .expected_carrier = "",
     .strikes_launches = true},
    {.name = "overrun",
     .what = "The kernel writes behind the end of its output.",
     .fault = &Faults::overrun,
     .expected_kind = "hygiene",
     .expected_fingerprint = "guard",
     .expected_carrier = "",
     .strikes_launches = true},
    {.name = "input_overwritten",
     .what = "The kernel writes into its input.",
     .fault = &Faults::input_overwritten,
     .expected_kind = "hygiene",
     .expected_fingerprint = "input",
     .expected_carrier = "",
     .strikes_launches = true},
    {.name = "abort",
     .what = "The process aborts in the launch.",
     .fault = &Faults::abort,
     .expected_kind = "crash",
     .expected_fingerprint = "crash",
     .expected_carrier = "",
     .strikes_launches = true},
    {.name = "hang",
     .what = "The launch does not return.",
     .fault = &Faults::hang,
     .expected_kind = "timeout",
     .expected_fingerprint = "timeout",
     .expected_carrier = "",
     .strikes_launches = true},
    {.name = "sticky_error",
     .what = "The kernel reads a null pointer, after which the device answers this process with "
             "errors only.",
     .fault = &Faults::sticky_error,
     .expected_kind = "crash",
     .expected_fingerprint = "crash",
     .expected_carrier = "",
     .strikes_launches = true},
}};

}  // namespace

std::span<const Plant> plants() {
  return kPlants;
}

Faults faults_of(const std::vector<std::string>& names) {
  Faults faults;
  for (const std::string& name : names) {
    const auto* const found = std::ranges::find(kPlants, name, &Plant::name);
    if (found == kPlants.end()) {
      std::vector<std::string_view> known;
      for (const Plant& plant : kPlants) known.push_back(plant.name);
      throw UsageError(
          fmt::format("no plant is called '{}'; there are {}", name, fmt::join(known, ", ")));
    }
    faults.*(found->fault) = true;
  }
  return faults;
}

}  // namespace parity
