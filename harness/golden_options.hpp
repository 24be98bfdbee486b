// What stands behind `harness golden`. Private to the command line.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "harness/options.hpp"

namespace CLI {
class App;
}

namespace parity {

/// What CLI11 fills in before it is checked and typed.
struct GoldenArguments {
  std::filesystem::path out;
  std::string inputs = "whole";
  std::array<CLI::App*, 4> actions{};  ///< in the order of GoldenAction
};

/// Gives `golden` its actions. `add_selection` adds --suite and --filter to one of them.
void add_golden(CLI::App& golden, Options& options, GoldenArguments& raw, std::string& seed,
                const std::function<void(CLI::App&)>& add_selection);

/// After parsing; of another command it sets nothing that counts.
void finish_golden(Options& options, std::string_view suite, const GoldenArguments& raw);

}  // namespace parity
