// Each constant has four bytes of device memory of its own.
#include "device/device_constants.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <span>

#include "datasets/errors.hpp"

namespace parity {
namespace {

std::string text_of(float value) {
  return fmt::format("{:#010x}", std::bit_cast<std::uint32_t>(value));
}

float value_of(const CellState& cell) {
  std::uint32_t bits = 0;
  const std::string& text = cell.content;
  if (text.starts_with("0x")) std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
  const auto value = std::bit_cast<float>(bits);
  if (text != text_of(value))
    throw UsageError(fmt::format("constant {} cannot hold '{}'; give the bits of an f32, as in {}",
                                 cell.cell, text, text_of(1.0f)));
  return value;
}

}  // namespace

void DeviceConstants::write(const std::string& name, float value, Trace& trace) {
  const std::scoped_lock lock(mutex_);
  put(name, value, trace.label());
  trace.add({std::string(this->name()), name, true, {}, {}, trace.label()});
}

std::optional<float> DeviceConstants::read(const std::string& name, Trace& trace) {
  const std::scoped_lock lock(mutex_);
  const auto found = constants_.find(name);
  if (found == constants_.end()) return std::nullopt;
  const bool own = trace.wrote(this->name(), name);
  trace.add({std::string(this->name()), name, own, {}, {}, found->second.writer});
  return get(found->second);
}

void DeviceConstants::erase(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  constants_.erase(name);
}

std::vector<CellState> DeviceConstants::snapshot() const {
  const std::scoped_lock lock(mutex_);
  std::vector<CellState> cells;
  for (const auto& [name, constant] : constants_) cells.push_back({name, text_of(get(constant))});
  return cells;
}

void DeviceConstants::restore() {
  const std::scoped_lock lock(mutex_);
  backend_.synchronize();
  constants_.clear();
}

void DeviceConstants::set(const std::vector<CellState>& cells) {
  std::map<std::string, float> values;
  for (const CellState& cell : cells) values[cell.cell] = value_of(cell);
  restore();
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, value] : values) put(name, value, {});
}

void DeviceConstants::put(const std::string& name, float value, const std::string& writer) {
  auto found = constants_.find(name);
  if (found == constants_.end())
    found = constants_.emplace(name, Constant{DeviceBuffer(backend_, sizeof value), {}}).first;
  backend_.synchronize();
  backend_.copy_in(found->second.memory.data(), std::as_bytes(std::span(&value, 1)));
  found->second.writer = writer;
}

float DeviceConstants::get(const Constant& constant) const {
  float value = 0.0f;
  backend_.copy_out(std::as_writable_bytes(std::span(&value, 1)), constant.memory.data());
  return value;
}

}  // namespace parity
