// Work shared out among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <optional>
#include <vector>

namespace parity {

/// Calls `work(next)` in min(jobs, items) threads, at least one where there are items; `next()` is
/// an item from 0 on, each once, or nothing when none is left. Rethrows what one of them threw. A
/// thread that throws leaves no items to the others.
template <class Work>
void in_jobs(std::size_t jobs, std::size_t items, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::future<void>> threads;
  for (std::size_t i = 0; i < std::min(std::max<std::size_t>(jobs, 1), items); ++i) {
    threads.push_back(std::async(std::launch::async, [&] {
      struct LeaveNothing {
        std::atomic<std::size_t>& next;
        std::size_t items;
        ~LeaveNothing() { next = items; }
      } at_the_end{next, items};
      work([&]() -> std::optional<std::size_t> {
        const std::size_t item = next++;
        return item < items ? std::optional(item) : std::nullopt;
      });
    }));
  }
  for (std::future<void>& thread : threads) thread.wait();
  for (std::future<void>& thread : threads) thread.get();
}

}  // namespace parity
