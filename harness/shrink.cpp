// The search for the shortest failing history; its cost is counted in case executions.
#include "harness/shrink.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace parity {
namespace {

/// A pass is believed when a leak of the measured rate would have passed that often with at most
/// this probability.
constexpr double kChanceOfFalsePass = 0.05;
constexpr std::size_t kMostRepeats = 15;
/// Of a sweep: there a false pass would accuse a bystander.
constexpr std::size_t kSweepRepeats = 3;

std::size_t repeats_for(double rate) {
  if (rate >= 1) return 1;
  const double repeats = std::ceil(std::log(kChanceOfFalsePass) / std::log1p(-rate));
  return std::clamp<std::size_t>(static_cast<std::size_t>(repeats), 2, kMostRepeats);
}

/// The earlier and the later half; the later one has a case more where they differ.
std::pair<Order, Order> halves(const Order& order) {
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  return {Order(order.begin(), middle), Order(middle, order.end())};
}

class Shrinker {
 public:
  explicit Shrinker(const ShrinkRequest& request) : request_(request), best_(request.history) {}

  ShrinkResult run() {
    if (!one_polluter() && reproduce(1) && !(repeats_ > 1 && one_polluter())) {
      isolate();
      sweep();
    }
    return {best_, trials_, executions_, seen_};
  }

 private:
  /// Cases in the order they ran; each holds at least one that is needed.
  using Blocks = std::vector<Order>;

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
    const std::size_t repeats = std::max(repeats_, repeats_for(request_.rate));
    for (std::size_t suspect : request_.suspects)
      if (fails({suspect}, repeats)) return true;
    if (!best_.empty() && fails({best_.back()})) return true;
    try_common(repeats);
    return best_.size() == 1 ? seen_ : find_one();
  }

  void try_common(std::size_t repeats) {
    Order common;
    for (const std::size_t c : best_)
      if (std::ranges::find(request_.common, c) != request_.common.end()) common.push_back(c);
    // What is left is short, so that repeats cost little.
    if (!common.empty() && common.size() < best_.size() && fails(common, repeats))
      repeats_ = repeats;
  }

  /// One trial a level: when the later half passes, the polluter must be in the earlier one if it
  /// is one alone. What is left is tried, so a wrong assumption is noticed.
  bool find_one() {
    Order part = best_;
    while (part.size() > 1) {
      auto [earlier, later] = halves(part);
      part = fails(later) ? std::move(later) : std::move(earlier);
    }
    return part.size() == 1 && (best_ == part || fails(part));
  }

  /// Does the best history fail again, `enough` times at once? If not, how often? That fixes the
  /// repeats behind each later pass.
  bool reproduce(std::size_t enough) {
    // Where it was seen to fail sometimes only, a pass of all would mean little otherwise.
    const std::size_t expected = request_.rate < 1 ? 2 * repeats_for(request_.rate) : 0;
    const std::size_t attempts = std::max({request_.attempts, enough + 1, expected});
    const Order history = best_;
    std::size_t hits = 0;
    for (std::size_t runs = 1; runs <= attempts; ++runs) {
      hits += fails_once(history) ? 1 : 0;
      if (hits == enough && runs == enough) return true;
    }
    if (hits == 0 && !seen_) return false;
    const double runs = static_cast<double>(attempts + (hits == 0 ? 1 : 0));
    repeats_ = repeats_for(static_cast<double>(std::max<std::size_t>(hits, 1)) / runs);
    return true;
  }

  /// Halves the largest block: keeps the half without which it passes, else both as blocks of their
  /// own. The largest first, since all blocks run in each trial.
  void isolate() {
    Blocks blocks = {best_};
    Order reproduced = best_;
    while (const std::optional<std::size_t> i = largest(blocks, blocks.size())) {
      const auto [earlier, later] = halves(blocks[*i]);
      if (keep(blocks, *i, later) || keep_with_another(blocks, *i, earlier) ||
          keep(blocks, *i, earlier))
        continue;
      // Both halves are needed, or chance let one pass.
      if (repeats_ == 1 && best_ != reproduced) {
        reproduced = best_;
        reproduce(1);
        if (repeats_ > 1) continue;
      }
      blocks[*i] = earlier;
      blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(*i) + 1, later);
    }
  }

  /// The later part of the block passed, so the earlier is needed, and most likely it is enough:
  /// that is tried together with half of the next largest block, which saves a trial.
  bool keep_with_another(Blocks& blocks, std::size_t i, const Order& earlier) {
    const std::optional<std::size_t> other = largest(blocks, i);
    if (!other) return false;
    Blocks smaller = blocks;
    smaller[i] = earlier;
    const auto [first, second] = halves(blocks[*other]);
    if (!keep(smaller, *other, second) && !keep(smaller, *other, first)) return false;
    blocks = std::move(smaller);
    return true;
  }

  /// Replaces the block by a part of it if that still fails.
  bool keep(Blocks& blocks, std::size_t i, const Order& part) {
    Blocks smaller = blocks;
    smaller[i] = part;
    Order history;
    for (const Order& block : smaller) history.insert(history.end(), block.begin(), block.end());
    if (!fails(history)) return false;
    blocks = std::move(smaller);
    return true;
  }

  /// Of the blocks with several cases, but for the one at `without`; the last of equal ones.
  static std::optional<std::size_t> largest(const Blocks& blocks, std::size_t without) {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (i != without && blocks[i].size() > 1 &&
          (!found || blocks[i].size() >= blocks[*found].size()))
        found = i;
    return found;
  }

  /// Leaves out one case at a time until none can be. A pass is repeated even where the rate looked
  /// like 1; whether it is, the short history is asked again, which costs little.
  void sweep() {
    if (repeats_ == 1) reproduce(kSweepRepeats);
    const std::size_t repeats = std::max(repeats_ == 1 ? 1 : 2 * repeats_, kSweepRepeats);
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
