// Greedy covering arrays under constraints, by a search that goes back to what is to blame.
#include "harness/pairwise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr std::size_t kFree = static_cast<std::size_t>(-1);
/// Choices tried to complete one pair; a pair that needs more counts as impossible.
constexpr std::size_t kMostTries = std::size_t{1} << 20;

/// Which pairs of values of two axes still have to occur.
class Uncovered {
 public:
  explicit Uncovered(const std::vector<std::size_t>& sizes) {
    std::size_t values = 0;
    for (const std::size_t size : sizes) {
      first_.push_back(values);
      values += size;
    }
    values_ = values;
    open_.assign(values * values, false);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      for (std::size_t j = i + 1; j < sizes.size(); ++j)
        for (std::size_t a = 0; a < sizes[i]; ++a)
          for (std::size_t b = 0; b < sizes[j]; ++b) set(i, a, j, b, true);
  }

  bool open(std::size_t i, std::size_t a, std::size_t j, std::size_t b) const {
    return open_[(first_[i] + a) * values_ + first_[j] + b];
  }
  void close(std::size_t i, std::size_t a, std::size_t j, std::size_t b) { set(i, a, j, b, false); }

  void close(const Combination& whole) {
    for (std::size_t i = 0; i < whole.size(); ++i)
      for (std::size_t j = i + 1; j < whole.size(); ++j) close(i, whole[i], j, whole[j]);
  }

  /// Open pairs that value `a` of axis `i` makes with the axes already chosen.
  std::size_t gain(const Combination& partial, std::size_t i, std::size_t a) const {
    std::size_t count = 0;
    for (std::size_t j = 0; j < partial.size(); ++j)
      if (j != i && partial[j] != kFree && open(i, a, j, partial[j])) ++count;
    return count;
  }

 private:
  void set(std::size_t i, std::size_t a, std::size_t j, std::size_t b, bool value) {
    open_[(first_[i] + a) * values_ + first_[j] + b] = value;
    open_[(first_[j] + b) * values_ + first_[i] + a] = value;
  }

  std::vector<std::size_t> first_;
  std::size_t values_ = 0;
  std::vector<bool> open_;
};

/// A set of axes, one bit each.
using Axes = std::uint64_t;
constexpr std::size_t kMostAxes = 64;

constexpr Axes bit(std::size_t axis) {
  return Axes{1} << axis;
}

/// Constraints by the axes they look at.
class Constraints {
 public:
  Constraints(std::size_t axes, const std::vector<Constraint>& constraints) : of_axis_(axes) {
    for (const Constraint& constraint : constraints) {
      const auto scope =
          std::accumulate(constraint.axes.begin(), constraint.axes.end(), Axes{0},
                          [](Axes all, std::size_t axis) { return all | bit(axis); });
      for (const std::size_t axis : constraint.axes) of_axis_[axis].push_back({scope, &constraint});
    }
  }

  /// The axes of a constraint that the value of `axis` breaks together with others that are chosen;
  /// none where it breaks none.
  Axes broken(const Combination& partial, std::size_t axis) const {
    for (const auto& [scope, constraint] : of_axis_[axis])
      if (std::ranges::none_of(constraint->axes,
                               [&](std::size_t other) { return partial[other] == kFree; }) &&
          !constraint->holds(partial))
        return scope;
    return 0;
  }

 private:
  std::vector<std::vector<std::pair<Axes, const Constraint*>>> of_axis_;
};

/// Completes a partial combination to a valid one, values that close most pairs first. Exhaustive,
/// up to kMostTries.
class Completion {
 public:
  Completion(const std::vector<std::size_t>& sizes, const Uncovered& uncovered,
             const Constraints& constraints)
      : sizes_(sizes), uncovered_(uncovered), constraints_(constraints) {}

  std::optional<Combination> complete(Combination partial) {
    levels_.clear();
    tries_ = 0;
    for (std::size_t axis = 0; axis < partial.size(); ++axis)
      if (partial[axis] != kFree && constraints_.broken(partial, axis) != 0) return std::nullopt;
    Combination greedy = partial;
    for (std::size_t axis = next_axis(greedy); axis != kFree; axis = next_axis(greedy)) {
      levels_.push_back({axis, by_gain(greedy, axis)});
      greedy[axis] = levels_.back().values.front();
    }
    Axes blamed = 0;
    if (extend(partial, 0, blamed)) return partial;
    return std::nullopt;
  }

 private:
  /// An axis to choose and its values, best first as seen from the best choices before it.
  struct Level {
    std::size_t axis;
    std::vector<std::size_t> values;
  };

  /// Chooses the axes from level `depth` on. Where that fails, `blamed` holds the axes before them
  /// whose values made it fail: no other choice elsewhere would help, so the search goes back to
  /// the last of these.
  bool extend(Combination& partial, std::size_t depth, Axes& blamed) {
    if (depth == levels_.size()) return true;
    const std::size_t axis = levels_[depth].axis;
    blamed = 0;
    for (const std::size_t value : levels_[depth].values) {
      partial[axis] = value;
      Axes why = constraints_.broken(partial, axis);
      if (why == 0 && extend(partial, depth + 1, why)) return true;
      blamed |= why;
      if ((why & bit(axis)) == 0) {
        blamed = why;
        break;
      }
      if (++tries_ >= kMostTries) break;
    }
    partial[axis] = kFree;
    blamed &= ~bit(axis);
    return false;
  }

  /// The free axis with the most to gain; the first of equals; kFree when none is free.
  std::size_t next_axis(const Combination& partial) const {
    std::size_t best_axis = kFree;
    std::size_t best_gain = 0;
    for (std::size_t axis = 0; axis < sizes_.size(); ++axis) {
      if (partial[axis] != kFree) continue;
      for (std::size_t value = 0; value < sizes_[axis]; ++value) {
        const std::size_t gain = uncovered_.gain(partial, axis, value);
        if (best_axis != kFree && gain <= best_gain) continue;
        best_axis = axis;
        best_gain = gain;
      }
    }
    return best_axis;
  }

  std::vector<std::size_t> by_gain(const Combination& partial, std::size_t axis) const {
    std::vector<std::size_t> gains;
    for (std::size_t value = 0; value < sizes_[axis]; ++value)
      gains.push_back(uncovered_.gain(partial, axis, value));
    std::vector<std::size_t> values(sizes_[axis]);
    std::iota(values.begin(), values.end(), std::size_t{0});
    std::stable_sort(values.begin(), values.end(),
                     [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
    return values;
  }

  const std::vector<std::size_t>& sizes_;
  const Uncovered& uncovered_;
  const Constraints& constraints_;
  std::vector<Level> levels_;
  std::size_t tries_ = 0;
};

std::vector<Combination> single_values(std::size_t size, const Constraints& constraints) {
  std::vector<Combination> rows;
  for (std::size_t value = 0; value < size; ++value)
    if (constraints.broken({value}, 0) == 0) rows.push_back({value});
  return rows;
}

}  // namespace

std::vector<Combination> pairwise(const std::vector<std::size_t>& sizes,
                                  const std::vector<Constraint>& constraints) {
  if (sizes.size() > kMostAxes)
    throw UsageError(fmt::format("a pairwise combination of {} axes was asked for: give at most {}",
                                 sizes.size(), kMostAxes));
  if (std::find(sizes.begin(), sizes.end(), std::size_t{0}) != sizes.end()) return {};
  const Constraints by_axis(sizes.size(), constraints);
  if (sizes.size() == 1) return single_values(sizes.front(), by_axis);
  Uncovered uncovered(sizes);
  Completion completion(sizes, uncovered, by_axis);
  std::vector<Combination> rows;
  // Each round closes one open pair, and by the completion as many others as it can.
  const auto cover = [&](std::size_t i, std::size_t a, std::size_t j, std::size_t b) {
    if (!uncovered.open(i, a, j, b)) return;
    Combination partial(sizes.size(), kFree);
    partial[i] = a;
    partial[j] = b;
    if (const auto row = completion.complete(std::move(partial))) {
      uncovered.close(*row);
      rows.push_back(*row);
    } else {
      uncovered.close(i, a, j, b);
    }
  };
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t j = i + 1; j < sizes.size(); ++j)
      for (std::size_t a = 0; a < sizes[i]; ++a)
        for (std::size_t b = 0; b < sizes[j]; ++b) cover(i, a, j, b);
  return rows;
}

}  // namespace parity
