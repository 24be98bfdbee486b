// The search for the shortest failing history; its cost is counted in case executions.
#include "harness/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace parity {
namespace {

/// A pass is believed when a leak of the measured rate would have passed that often with at most
/// this probability.
constexpr double kChanceOfFalsePass = 0.05;
constexpr std::size_t kMostRepeats = 15;

class Shrinker {
 public:
  explicit Shrinker(const ShrinkRequest& request) : request_(request), best_(request.history) {}

  ShrinkResult run() {
    if (!one_polluter() && reproduce() && !(repeats_ > 1 && one_polluter())) {
      prefix_search();
      sweep();
    }
    return {best_, trials_, executions_, seen_};
  }

 private:
  /// Repeats until it fails or has passed often enough; a failing history becomes the best one.
  bool fails(const Order& history, std::size_t repeats) {
    std::size_t& passes = passes_[history];
    for (; passes < repeats; ++passes)
      if (fails_once(history)) return true;
    return false;
  }
  bool fails(const Order& history) { return fails(history, repeats_); }

  bool fails_once(const Order& history) {
    ++trials_;
    executions_ += history.size() + 1;
    if (request_.trial(history) != Trial::fails) return false;
    seen_ = true;
    if (history.size() <= best_.size()) best_ = history;
    return true;
  }

  bool one_polluter() {
    for (std::size_t suspect : request_.suspects)
      if (fails({suspect})) return true;
    if (!best_.empty() && fails({best_.back()})) return true;
    return halve();
  }

  /// One trial a level: when the later half passes, the polluter must be in the earlier one if it
  /// is one alone. The last candidate is tried, so a wrong assumption is noticed.
  bool halve() {
    Order part = best_;
    while (part.size() > 1) {
      const auto middle = part.begin() + static_cast<std::ptrdiff_t>(part.size() / 2);
      Order later(middle, part.end());
      if (fails(later)) {
        part = std::move(later);
        if (part.size() == 1) return true;
      } else {
        part.erase(middle, part.end());
      }
    }
    return part.size() == 1 && fails(part);
  }

  /// Does the best history fail again, and how often? Fixes the repeats behind each later pass.
  bool reproduce() {
    const std::size_t attempts = std::max<std::size_t>(request_.attempts, 2);
    const Order history = best_;
    std::size_t hits = 0;
    std::size_t runs = 0;
    while (runs < attempts) {
      hits += fails_once(history) ? 1 : 0;
      ++runs;
      if (runs == 2 && hits == 2) return true;
    }
    if (hits == 0 && !seen_) return false;
    const double rate = static_cast<double>(std::max<std::size_t>(hits, 1)) /
                        static_cast<double>(runs + (hits == 0 ? 1 : 0));
    if (rate < 1)
      repeats_ = std::min(
          kMostRepeats,
          static_cast<std::size_t>(std::ceil(std::log(kChanceOfFalsePass) / std::log1p(-rate))));
    repeats_ = std::max<std::size_t>(repeats_, 2);
    return true;
  }

  /// Keeps a tail of needed cases; binary-searches the shortest prefix that still fails before it,
  /// moves that prefix's last case to the tail, and cuts.
  void prefix_search() {
    Order rest = best_;
    Order tail;
    while (!rest.empty() && (tail.empty() || !fails(tail))) {
      std::size_t passing = 0;
      std::size_t failing = rest.size();
      while (failing - passing > 1) {
        const std::size_t middle = passing + (failing - passing) / 2;
        Order history(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(middle));
        history.insert(history.end(), tail.begin(), tail.end());
        (fails(history) ? failing : passing) = middle;
      }
      tail.insert(tail.begin(), rest[failing - 1]);
      rest.resize(failing - 1);
    }
  }

  /// Leaves out one case at a time until none can be; a pass is repeated even where the rate looked
  /// like 1, for here a false one would accuse a bystander.
  void sweep() {
    const std::size_t repeats = std::max<std::size_t>(repeats_, 3);
    for (std::size_t i = 0; best_.size() > 1 && i < best_.size();) {
      Order shorter = best_;
      shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
      i = fails(shorter, repeats) ? 0 : i + 1;
    }
  }

  const ShrinkRequest& request_;
  Order best_;  ///< the shortest seen to fail; the observed one until then
  std::map<Order, std::size_t> passes_;
  std::size_t repeats_ = 1;
  std::size_t trials_ = 0;
  std::size_t executions_ = 0;
  bool seen_ = false;
};

}  // namespace

ShrinkResult shrink(const ShrinkRequest& request) {
  return Shrinker(request).run();
}

}  // namespace parity
