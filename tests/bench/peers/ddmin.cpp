// Delta debugging to a 1-minimal part.
#include <algorithm>
#include <map>

#include "tests/bench/peers/detectors.hpp"

namespace parity {
namespace {

/// Items [begin, end) of the i-th of `chunks` parts.
std::pair<std::size_t, std::size_t> part(std::size_t items, std::size_t chunks, std::size_t i) {
  return {items * i / chunks, items * (i + 1) / chunks};
}

}  // namespace

Order ddmin(Order items, const std::function<bool(const Order&)>& fails) {
  std::map<Order, bool> known;
  const auto fails_once = [&](const Order& order) {
    const auto [at, is_new] = known.try_emplace(order, false);
    if (is_new) at->second = fails(order);
    return at->second;
  };
  /// The first part (or rest) that fails takes the place of the items.
  const auto reduce = [&](std::size_t chunks, bool to_part) {
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto [begin, end] = part(items.size(), chunks, i);
      const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = items.begin() + static_cast<std::ptrdiff_t>(end);
      Order smaller(to_part ? first : items.begin(), to_part ? last : first);
      if (!to_part) smaller.insert(smaller.end(), last, items.end());
      if (!fails_once(smaller)) continue;
      items = std::move(smaller);
      return true;
    }
    return false;
  };
  std::size_t chunks = 2;
  while (items.size() >= 2) {
    if (reduce(chunks, true)) {
      chunks = 2;
    } else if (chunks > 2 && reduce(chunks, false)) {
      chunks = std::max<std::size_t>(chunks - 1, 2);
    } else if (chunks < items.size()) {
      chunks = std::min(chunks * 2, items.size());
    } else {
      break;
    }
  }
  return items;
}

}  // namespace parity
