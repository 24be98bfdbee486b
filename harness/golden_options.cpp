#include "harness/golden_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "harness/shared_options.hpp"

namespace parity {
namespace {

CLI::App* add_reader(CLI::App& golden, Options& options, const char* action,
                     const char* description, int files) {
  CLI::App* app = golden.add_subcommand(action, description);
  app->add_option("file", options.golden_files, "Golden data (layout: datasets/SCHEMA.md)")
      ->required()
      ->expected(files)
      ->check(not_empty());
  return app;
}

CLI::App* add_regenerate(CLI::App& golden, GoldenArguments& raw,
                         const std::function<void(CLI::App&)>& add_selection) {
  CLI::App* app =
      golden.add_subcommand("regenerate", "Computes every selected case and writes a file");
  add_selection(*app);
  app->add_option("--out", raw.out,
                  "The file, replaced as a whole (else SUITE.golden.h5 in this folder)")
      ->check(not_empty());
  app->add_option("--inputs", raw.inputs,
                  "whole (tensors up to 1 MiB) or recipe (none: recipe and digest are enough)")
      ->check(CLI::IsMember({"whole", "recipe"}))
      ->capture_default_str();
  return app;
}

}  // namespace

void add_golden(CLI::App& golden, Options& options, GoldenArguments& raw, std::string& seed,
                const std::function<void(CLI::App&)>& add_selection) {
  golden.require_subcommand(1);
  CLI::App* regenerate = add_regenerate(golden, raw, add_selection);
  CLI::App* verify =
      add_reader(golden, options, "verify",
                 "Computes a file's cases again: inputs bit for bit, expected to 1e-12", 1);
  CLI::Option* sample = verify->add_option("--sample", options.golden_sample,
                                           "Only so many cases, chosen by the seed");
  sample->check(CLI::Range(1, 1000000));
  verify->add_option("--seed", seed, "Seed of the sample")->capture_default_str()->needs(sample);
  CLI::App* diff = add_reader(golden, options, "diff",
                              "Where two files differ: which case, which tensor, how far", 2);
  CLI::App* info =
      add_reader(golden, options, "info", "Who wrote a file, its cases, dtypes and sizes", 1);
  raw.actions = {regenerate, verify, diff, info};
}

void finish_golden(Options& options, std::string_view suite, const GoldenArguments& raw) {
  const auto action = std::ranges::find_if(
      raw.actions, [](const CLI::App* one) { return one != nullptr && one->parsed(); });
  if (action == raw.actions.end()) return;
  options.golden = static_cast<GoldenAction>(action - raw.actions.begin());
  options.store_inputs = raw.inputs == "whole";
  if (options.golden == GoldenAction::regenerate)
    options.golden_files = {
        raw.out.empty() ? std::filesystem::path(std::string(suite) + ".golden.h5") : raw.out};
}

}  // namespace parity
