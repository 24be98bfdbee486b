// Options that several commands have, each worded once. Private to the command line.
#pragma once

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace parity {

struct Options;

/// An empty shell variable must not silently drop a report or a worker. "!" is an exclusion of
/// nothing.
CLI::Validator not_empty();

void add_filter(CLI::App& app, Options& options);
void add_jobs(CLI::App& app, Options& options);
void add_backend(CLI::App& app, Options& options);
void add_plants(CLI::App& app, Options& options);

}  // namespace parity
