// One count a stream.
#include "device/rng_streams.hpp"

#include <fmt/format.h>

#include <charconv>
#include <system_error>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

std::uint64_t steps_of(const CellState& cell) {
  std::uint64_t steps = 0;
  const char* const end = cell.content.data() + cell.content.size();
  const auto [stop, error] = std::from_chars(cell.content.data(), end, steps);
  if (error != std::errc{} || stop != end)
    throw UsageError(
        fmt::format("random stream {} cannot stand at '{}'; give the steps drawn so "
                    "far, as in 12",
                    cell.cell, cell.content));
  return steps;
}

}  // namespace

std::uint64_t RngStreams::draw(const std::string& stream, std::uint64_t steps, Trace& trace) {
  const std::scoped_lock lock(mutex_);
  const auto [found, made] = streams_.try_emplace(stream);
  Stream& drawn_from = found->second;
  const bool own = made || trace.wrote(name(), stream);
  trace.add({std::string(name()), stream, own, {}, {}, own ? trace.label() : drawn_from.writer});
  drawn_from.writer = trace.label();
  return std::exchange(drawn_from.drawn, drawn_from.drawn + steps);
}

std::uint64_t RngStreams::position(const std::string& stream, Trace& trace) {
  const std::scoped_lock lock(mutex_);
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return 0;
  const bool own = trace.wrote(name(), stream);
  trace.add({std::string(name()), stream, own, {}, {}, found->second.writer});
  return found->second.drawn;
}

std::vector<CellState> RngStreams::snapshot() const {
  const std::scoped_lock lock(mutex_);
  std::vector<CellState> cells;
  for (const auto& [name, stream] : streams_)
    cells.push_back({name, fmt::format("{}", stream.drawn)});
  return cells;
}

void RngStreams::restore() {
  const std::scoped_lock lock(mutex_);
  streams_.clear();
}

void RngStreams::set(const std::vector<CellState>& cells) {
  std::map<std::string, Stream> streams;
  for (const CellState& cell : cells) streams[cell.cell] = {steps_of(cell), {}};
  const std::scoped_lock lock(mutex_);
  streams_ = std::move(streams);
}

}  // namespace parity
