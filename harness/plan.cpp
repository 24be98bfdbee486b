#include "harness/plan.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "datasets/digest.hpp"

namespace parity {
namespace {

/// Numbers equal keys alike, in order of first mention.
template <typename KeyOf>
std::vector<std::size_t> group_by(std::span<const Case> cases, KeyOf key_of) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::size_t> groups;
  for (const Case& c : cases)
    groups.push_back(numbers.try_emplace(key_of(c), numbers.size()).first->second);
  return groups;
}

/// The id with its dtypes left out.
std::string without_dtypes(Case c) {
  for (Dtype& dtype : c.dtypes) dtype = Dtype::f32;
  return c.id();
}

std::string only_dtypes(const Case& c) {
  std::string text;
  for (const Dtype dtype : c.dtypes) text += std::string(name(dtype)) + ",";
  return text;
}

/// Kernel and constants: dtypes and data aside, what a case asks state for.
std::string kernel_and_constants(const Case& c) {
  std::string text = c.spec->name;
  for (const std::int64_t constant : c.constants) text += "," + std::to_string(constant);
  return text;
}

/// A refused or uncompiled case leaves no state behind: its pairs were not exercised.
bool was_launched(Status status) {
  return status == Status::ok || status == Status::crashed || status == Status::timed_out;
}

std::vector<std::size_t> group_sizes(const Sequence& sequence) {
  std::vector<std::size_t> sizes;
  for (const StepGroup& group : sequence.groups()) sizes.push_back(group.size());
  return sizes;
}

/// Seed and group never trade places: (0, 1) is not (1, 0).
std::uint64_t group_seed(std::uint64_t seed, std::size_t group) {
  return stable_hash(std::to_string(seed) + "/" + std::to_string(group));
}

}  // namespace

Ledger Plan::ledger(std::size_t threads) const {
  Ledger ledger(group_of.size(), group_of);
  for (const Order& order : orders)
    ledger.plan(order, group_sizes(Sequence::of(order, 0, threads)));
  return ledger;
}

Plan make_plan(std::span<const Case> cases, Permute permute, const OrdersChoice& choice,
               std::uint64_t seed, std::size_t threads) {
  Plan plan;
  for (std::size_t i = 0; i < cases.size() && threads > 1; ++i)
    plan.orders.emplace_back(threads, i);
  plan.group_of = permute == Permute::dtype ? group_by(cases, without_dtypes)
                                            : std::vector<std::size_t>(cases.size(), 0);
  if (permute == Permute::none) {
    Order all;
    for (std::size_t i = 0; i < cases.size(); ++i) all.push_back(i);
    plan.orders.push_back(std::move(all));
    return plan;
  }
  const std::vector<std::size_t> dtypes = group_by(cases, only_dtypes);
  const std::vector<std::size_t> families = group_by(cases, kernel_and_constants);
  std::map<std::size_t, Order> members;
  for (std::size_t i = 0; i < cases.size(); ++i) members[plan.group_of[i]].push_back(i);
  for (const auto& [group, indices] : members) {
    std::vector<std::size_t> dtype_of;
    std::vector<std::size_t> family_of;
    for (const std::size_t i : indices) {
      dtype_of.push_back(dtypes[i]);
      family_of.push_back(families[i]);
    }
    const std::vector<Order> rows =
        choice.tuscan ? schedule_rows(tuscan_rows(indices.size()), dtype_of, family_of)
                      : random_orders(indices.size(), choice.random, group_seed(seed, group));
    for (const Order& row : rows) {
      Order order;
      for (const std::size_t position : row) order.push_back(indices[position]);
      plan.orders.push_back(std::move(order));
    }
  }
  return plan;
}

void enter(Ledger& ledger, std::span<const Sequence> sequences,
           std::span<const SequenceResult> results) {
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    Order order;
    std::vector<bool> launched;
    for (std::size_t step = 0; step < sequences[i].steps.size(); ++step) {
      order.push_back(sequences[i].steps[step].case_index);
      launched.push_back(was_launched(results[i].outcomes[step].status));
    }
    ledger.exercise(order, launched, group_sizes(sequences[i]));
  }
}

std::size_t orders_begun(std::span<const SequenceResult> results) {
  return static_cast<std::size_t>(std::ranges::count_if(
      results, [](const SequenceResult& result) { return result.completed() > 0; }));
}

std::vector<Order> never_alone(std::size_t cases, std::span<const Sequence> sequences,
                               std::span<const SequenceResult> results) {
  std::vector<bool> alone(cases, false);
  std::vector<bool> ran(cases, false);
  for (std::size_t i = 0; i < sequences.size(); ++i)
    for (std::size_t step = 0; step < results[i].completed(); ++step) {
      const std::size_t index = sequences[i].steps[step].case_index;
      ran[index] = true;
      if (step == 0 && sequences[i].groups().front().size() == 1) alone[index] = true;
    }
  std::vector<Order> orders;
  for (std::size_t c = 0; c < cases; ++c)
    if (ran[c] && !alone[c]) orders.push_back({c});
  return orders;
}

}  // namespace parity
