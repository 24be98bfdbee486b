#include "harness/shared_options.hpp"

#include <CLI/CLI.hpp>

#include "harness/options.hpp"

namespace parity {

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) {
        return std::string(text.empty() || text == "!" ? "is empty" : "");
      },
      "");
}

void add_filter(CLI::App& app, Options& options) {
  app.add_option("--filter", options.filters,
                 "Glob over whole ids ('*' crosses '/'); '!GLOB' excludes; repeatable")
      ->allow_extra_args(false)
      ->check(not_empty());
}

void add_jobs(CLI::App& app, Options& options) {
  app.add_option("--jobs", options.jobs,
                 "Workers at a time (0: one a core on the host, two on CUDA)")
      ->check(CLI::Range(0, 256));
}

void add_backend(CLI::App& app, Options& options) {
  app.add_option("--backend", options.backend, "Where kernels run: auto, cuda or host")
      ->check(CLI::IsMember({"auto", "cuda", "host"}))
      ->capture_default_str();
}

void add_plants(CLI::App& app, Options& options) {
  app.add_option("--plant", options.plants,
                 "Switch a deliberate fault on by name (a wrong name lists them); repeatable")
      ->allow_extra_args(false);
}

}  // namespace parity
