// Lays out, launches, inspects; what goes wrong becomes an outcome here.
#include "harness/worker_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "datasets/errors.hpp"
#include "harness/blob_folder.hpp"

namespace parity {
namespace {

std::vector<ArenaBuffer> buffers_of(const ResidentCase& known) {
  std::vector<ArenaBuffer> buffers;
  for (const NamedTensor& input : known.inputs)
    buffers.push_back({input.name, input.tensor.type(), input.tensor.bytes()});
  for (const PackOutput& output : known.outputs) buffers.push_back({output.name, output.type, {}});
  return buffers;
}

std::vector<CellSeen> take_cells(Trace& trace) {
  std::vector<CellSeen> cells;
  for (CellTouch& touch : trace.take()) {
    cells.push_back({.carrier = std::move(touch.carrier),
                     .cell = std::move(touch.cell),
                     .wrote = touch.wrote,
                     .built_for = std::move(touch.built_for),
                     .used_for = std::move(touch.used_for),
                     .writer = std::move(touch.writer)});
  }
  return cells;
}

}  // namespace

Outcome WorkerRun::run(const ResidentCase& known, Poison poison,
                       const std::function<void()>& ready) {
  bool was_ready = false;
  const auto once = [&] {
    was_ready = true;
    ready();
  };
  Outcome outcome;
  try {
    outcome = attempt(known, poison, once);
  } catch (const UsageError& error) {
    outcome = failure(error, true);
  } catch (const std::exception& error) {
    outcome = failure(error, false);
  }
  if (!was_ready) ready();
  return outcome;
}

Outcome WorkerRun::attempt(const ResidentCase& known, Poison poison,
                           const std::function<void()>& ready) {
  launching_ = false;
  const std::vector<ArenaBuffer> buffers = buffers_of(known);
  runtime_.trace().begin(known.description.id());
  const DeviceTensors tensors = arena_.begin(buffers, poison);
  ready();
  const auto start = std::chrono::steady_clock::now();
  Outcome outcome;
  launching_ = true;
  outcome.plan = known.description.spec->launch(runtime_, known.description, tensors);
  launching_ = false;
  runtime_.backend().synchronize();
  const auto end = std::chrono::steady_clock::now();
  outcome.milliseconds = std::chrono::duration<double, std::milli>(end - start).count();
  ArenaReport report = arena_.inspect();
  for (const NamedTensor& output : report.outputs) {
    outcome.outputs.push_back({output.name, digest(output.tensor)});
    write_blob(blobs_, outcome.outputs.back().digest, output.tensor.bytes());
  }
  outcome.unwritten = report.unwritten;
  outcome.broken_guards = std::move(report.broken_guards);
  std::ranges::move(runtime_.workspaces().broken_guards(runtime_.trace()),
                    std::back_inserter(outcome.broken_guards));
  outcome.changed_inputs = std::move(report.changed_inputs);
  outcome.cells = take_cells(runtime_.trace());
  outcome.timed_plan = runtime_.autotune().measures() &&
                       std::ranges::any_of(outcome.cells, [this](const CellSeen& cell) {
                         return cell.carrier == runtime_.autotune().name();
                       });
  outcome.status = Status::ok;
  return outcome;
}

/// The whole of it (a compiler's log) is for the log; one line is for the parent.
Outcome WorkerRun::failure(const std::exception& error, bool usage) {
  const std::string words = error.what();
  fmt::print(stderr, "{}\n", words);
  Outcome outcome;
  outcome.status = usage && launching_ ? Status::unsupported : Status::error;
  outcome.detail = words.substr(0, words.find('\n'));
  outcome.cells = take_cells(runtime_.trace());
  return outcome;
}

}  // namespace parity
