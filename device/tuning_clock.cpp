// The recorded model and the live measurement.
#include "device/tuning_clock.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "device/ceil_divide.hpp"
#include "device/paged_decode_blocks.hpp"

namespace parity {
namespace {

/// What a block costs beside its tokens, what a merge costs, and what each partial adds to it: the
/// constants of split_rows, in bytes read meanwhile. The fewer bytes a token has, the more tokens
/// they are worth.
constexpr std::int64_t kBlockBytes = 64 * 512;
constexpr std::int64_t kMergeBytes = 96 * 512;
constexpr std::int64_t kPartialBytes = 512;

/// Time of a byte in sixteenths, by the bytes that a stream's lane has in flight for an element of
/// k and one of v: few leave the memory idle, many leave no registers.
struct Pace {
  std::int64_t up_to;
  std::int64_t sixteenths;
};
constexpr std::array kPaces = {Pace{8, 24}, Pace{16, 19}, Pace{32, 16}, Pace{64, 18}};
constexpr std::int64_t kPaceBeyond = 24;
constexpr std::int64_t kPaceUnit = 16;

constexpr int kTimedLaunches = 3;

std::int64_t pace_of(std::int64_t bytes_in_flight) {
  for (const Pace& pace : kPaces)
    if (bytes_in_flight <= pace.up_to) return pace.sixteenths;
  return kPaceBeyond;
}

}  // namespace

double RecordedClock::time(const TuningKey& key, const TunedPlan& plan) const {
  PagedDecodeChoice choice = key.choice();
  choice.tile = plan.tile;
  const auto pool_bytes = static_cast<std::int64_t>(size_of(choice.k) + size_of(choice.v));
  const std::int64_t at_once = std::max<std::int64_t>(1, key.multiprocessors) *
                               paged_decode_blocks_at_once(choice, key.architecture);
  const std::int64_t slots = plan.pages_per_chunk * key.page_size;
  const std::int64_t chunks = std::max(key.batch, ceil_divide(key.total_slots, slots));
  const std::int64_t tokens = key.window == 0 ? slots : std::min(slots, key.window);
  const std::int64_t partials = ceil_divide(key.longest_pages(), plan.pages_per_chunk);
  // Whole numbers below 2^53 where a launch is possible, so exact: the same choice on every host.
  const double blocks = static_cast<double>(chunks) * static_cast<double>(key.kv_heads) *
                        static_cast<double>(HeadBlocks::of(choice.group_size).chunks);
  const double waves = std::ceil(blocks / static_cast<double>(at_once));
  const double block = static_cast<double>(tokens) *
                           static_cast<double>(key.head_dim * pool_bytes) *
                           static_cast<double>(pace_of(plan.tile * pool_bytes)) +
                       static_cast<double>(kBlockBytes * kPaceUnit);
  const std::int64_t merge = partials > 1 ? kMergeBytes + partials * kPartialBytes : 0;
  return waves * block + static_cast<double>(merge * kPaceUnit);
}

LiveClock::LiveClock(Backend& backend, Prepare prepare)
    : backend_(backend), prepare_(std::move(prepare)) {}

double LiveClock::time(const TuningKey&, const TunedPlan& plan) const {
  const std::function<void()> launch = prepare_(plan);
  launch();  // The first loads modules and grows the workspace.
  const std::unique_ptr<Stopwatch> stopwatch = backend_.stopwatch();
  double least = 0;
  for (int i = 0; i < kTimedLaunches; ++i) {
    stopwatch->start();
    launch();
    stopwatch->stop();
    const double seconds = stopwatch->seconds();
    least = i == 0 ? seconds : std::min(least, seconds);
  }
  return least;
}

}  // namespace parity
