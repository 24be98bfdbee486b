// The built-in worker's text of a carrier's state.
#include "harness/carrier_state.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "datasets/errors.hpp"
#include "harness/json_fields.hpp"

namespace parity {

std::string carrier_state_text(const std::vector<CarrierCell>& cells) {
  Json list = Json::array();
  for (const CarrierCell& cell : cells) {
    Json entry = object_with("cell", cell.cell);
    entry["content"] = cell.content;
    list.push_back(std::move(entry));
  }
  return dump(object_with("cells", std::move(list)));
}

std::vector<CarrierCell> parse_carrier_state(std::string_view text) {
  std::string problem;
  const Json state = parse_json_object(text, problem);
  std::vector<CarrierCell> cells;
  for (const Json& cell : Fields(state, problem).list("cells")) {
    const Fields fields(cell, problem);
    cells.push_back({fields.text("cell"), fields.text("content")});
  }
  if (problem.empty()) return cells;
  throw UsageError(fmt::format("not a carrier's state: {}: '{}'", problem, excerpt(text)));
}

}  // namespace parity
