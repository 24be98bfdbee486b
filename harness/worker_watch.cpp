// Two snapshots a run, and what differs between them.
#include "harness/worker_watch.hpp"

#include <utility>

namespace parity {
namespace {

constexpr const char* kNothing = "unset";

/// visit(cell, content before, content after) of each cell that differs; both are ordered by cell.
template <typename Visit>
void each_difference(const std::vector<CellState>& before, const std::vector<CellState>& after,
                     const Visit& visit) {
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    if (now == after.end() || (old != before.end() && old->cell < now->cell)) {
      visit(old->cell, old->content, std::string(kNothing));
      ++old;
    } else if (old == before.end() || now->cell < old->cell) {
      visit(now->cell, std::string(kNothing), now->content);
      ++now;
    } else {
      if (old->content != now->content) visit(now->cell, old->content, now->content);
      ++old, ++now;
    }
  }
}

}  // namespace

WorkerWatch::WorkerWatch(std::vector<const Carrier*> carriers)
    : carriers_(std::move(carriers)), fresh_(look()), last_(fresh_) {}

void WorkerWatch::begin() {
  States now = look();
  found_.clear();
  for (std::size_t i = 0; i < carriers_.size(); ++i) {
    const std::string carrier(carriers_[i]->name());
    each_difference(last_[i], now[i], [&](const std::string& cell, const auto&, const auto&) {
      writers_.erase({carrier, cell});  // `restore` or `set` did
    });
    each_difference(
        fresh_[i], now[i],
        [&](const std::string& cell, const std::string& fresh, const std::string& held) {
          const auto known = writers_.find({carrier, cell});
          const std::vector<std::string> nobody = {""};
          for (const std::string& writer : known == writers_.end() ? nobody : known->second)
            found_.push_back({carrier, cell, false, held, fresh, writer});
        });
  }
  last_ = std::move(now);
}

void WorkerWatch::end(std::span<const RunRequest> runs, std::span<Outcome> outcomes) {
  States now = look();
  for (Outcome& outcome : outcomes)
    outcome.cells.insert(outcome.cells.end(), found_.begin(), found_.end());
  for (std::size_t i = 0; i < carriers_.size(); ++i) {
    const std::string carrier(carriers_[i]->name());
    each_difference(
        last_[i], now[i],
        [&](const std::string& cell, const std::string&, const std::string& held) {
          std::vector<std::string>& writers = writers_[{carrier, cell}];
          writers.clear();
          for (std::size_t run = 0; run < runs.size(); ++run) {
            writers.push_back(runs[run].id);
            outcomes[run].cells.push_back({carrier, cell, true, held, held, runs[run].id});
          }
        });
  }
  last_ = std::move(now);
}

WorkerWatch::States WorkerWatch::look() const {
  States states;
  states.reserve(carriers_.size());
  for (const Carrier* carrier : carriers_) states.push_back(carrier->snapshot());
  return states;
}

}  // namespace parity
