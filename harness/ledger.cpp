// Pair tables of n x n flags: which ordered pairs are possible, planned, exercised.
#include "harness/ledger.hpp"

#include <algorithm>
#include <utility>

namespace parity {

Ledger::Ledger(std::size_t cases) : Ledger(cases, std::vector<std::size_t>(cases, 0)) {}

Ledger::Ledger(std::size_t cases, const std::vector<std::size_t>& group_of)
    : cases_(cases), adjacent_(cases * cases, 0) {
  for (std::size_t a = 0; a < cases; ++a)
    for (std::size_t b = 0; b < cases; ++b)
      if (a != b && group_of.at(a) == group_of.at(b)) adjacent_[a * cases + b] = kPossible;
  ordered_ = together_ = adjacent_;
}

void Ledger::plan(const Order& order, const std::vector<std::size_t>& groups) {
  mark(order, std::vector<bool>(order.size(), true), groups, kPlanned);
}

void Ledger::exercise(const Order& order, std::size_t completed) {
  std::vector<bool> launched(order.size(), false);
  std::fill_n(launched.begin(), std::min(completed, order.size()), true);
  exercise(order, launched);
}

void Ledger::exercise(const Order& order, const std::vector<bool>& launched,
                      const std::vector<std::size_t>& groups) {
  mark(order, launched, groups, kExercised);
}

PairCount Ledger::adjacent() const {
  return count(adjacent_);
}

PairCount Ledger::ordered() const {
  return count(ordered_);
}

PairCount Ledger::together() const {
  const PairCount both_ways = count(together_);
  return {both_ways.possible / 2, both_ways.planned / 2, both_ways.exercised / 2};
}

std::vector<std::pair<std::size_t, std::size_t>> Ledger::missing() const {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < cases_; ++a)
    for (std::size_t b = 0; b < cases_; ++b) {
      const unsigned char flags = adjacent_[a * cases_ + b];
      if ((flags & kPossible) != 0 && (flags & kExercised) == 0) pairs.emplace_back(a, b);
    }
  return pairs;
}

void Ledger::mark(const Order& order, const std::vector<bool>& counts,
                  const std::vector<std::size_t>& groups, Bit bit) {
  const auto set = [&](std::vector<unsigned char>& table, std::size_t a, std::size_t b) {
    unsigned char& flags = table.at(a * cases_ + b);
    if ((flags & kPossible) != 0) flags = static_cast<unsigned char>(flags | bit);
  };
  Order before;    // distinct cases so far
  Order previous;  // the group before
  std::size_t next_group = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    const std::size_t size = next_group < groups.size() ? groups[next_group++] : 1;
    Order group;
    for (std::size_t i = begin; i < std::min(begin + size, order.size()); ++i)
      if (counts.at(i)) group.push_back(order[i]);
    for (const std::size_t current : group) {
      for (const std::size_t a : previous) set(adjacent_, a, current);
      for (const std::size_t a : before) set(ordered_, a, current);
      for (const std::size_t a : group) set(together_, a, current);
    }
    for (const std::size_t c : group)
      if (std::find(before.begin(), before.end(), c) == before.end()) before.push_back(c);
    previous = std::move(group);
    begin += size;
  }
}

PairCount Ledger::count(const std::vector<unsigned char>& table) const {
  const auto with = [&](Bit bit) {
    return static_cast<std::size_t>(std::count_if(
        table.begin(), table.end(), [bit](unsigned char flags) { return (flags & bit) != 0; }));
  };
  return {with(kPossible), with(kPlanned), with(kExercised)};
}

}  // namespace parity
