// Messages for launches that the execution model forbids.
#include "device/simt_block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace parity {
namespace {

/// "0-3, 7" from a predicate over 0..count-1.
template <class Predicate>
std::string ranges(u32 count, Predicate contains) {
  std::string text;
  for (u32 first = 0; first < count; ++first) {
    if (!contains(first)) continue;
    u32 last = first;
    while (last + 1 < count && contains(last + 1)) ++last;
    if (!text.empty()) text += ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text;
}

std::string lanes(u32 mask) {
  return ranges(32, [&](u32 lane) { return (mask >> lane & 1) != 0; });
}

std::string describe_meeting(const Meeting& meeting, const Warp& warp, u32 warp_number,
                             u32 warp_lanes) {
  const u32 missing = meeting.mask & ~meeting.arrived;
  const u32 exist = warp_lanes == 32 ? ~0u : (1u << warp_lanes) - 1;
  std::string text = fmt::format("warp {}, lanes {} wait at {} (line {}, mask {:#010x})",
                                 warp_number, lanes(meeting.arrived),
                                 operation_text(meeting.operation), meeting.line, meeting.mask);
  if (const u32 exited = missing & warp.exited; exited != 0)
    text += fmt::format(", but lanes {} have exited", lanes(exited));
  if (const u32 absent = missing & ~exist; absent != 0)
    text += fmt::format(", but lanes {} do not exist", lanes(absent));
  if (const u32 elsewhere = missing & ~warp.exited & exist; elsewhere != 0)
    text += fmt::format(", but lanes {} wait elsewhere", lanes(elsewhere));
  return text;
}

}  // namespace

std::string operation_text(u32 operation) {
  const u32 segment_lanes = operation >> 8 & 0xff;
  const u32 values = operation >> 16;
  switch (static_cast<HostOperation>(operation & 0xff)) {
    case HostOperation::warp_barrier:
      return "warp_barrier";
    case HostOperation::segment_sum:
      return fmt::format("segment_sum<{},{}>", segment_lanes, values);
    case HostOperation::segment_max:
      return fmt::format("segment_max<{},{}>", segment_lanes, values);
    case HostOperation::shuffle:
      return "shuffle";
    case HostOperation::ballot:
      return "ballot";
    case HostOperation::any:
      return "any";
  }
  return fmt::format("operation {}", operation);
}

std::string describe_fault(const SimtFault& fault) {
  if (fault.other_line)
    return fmt::format("thread {} at line {}: {} at line {}; all must arrive at the same call",
                       fault.thread, fault.line, fault.what, *fault.other_line);
  return fmt::format("thread {} at line {}: {}", fault.thread, fault.line, fault.what);
}

std::string describe_deadlock(const Warp* warps, u32 block_threads, const BarrierState& barrier) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> waits;
  if (barrier.arrived != 0)
    waits.push_back(fmt::format(
        "threads {} wait at block_barrier (line {})",
        ranges(block_threads, [&](u32 thread) { return barrier.waiting[thread]; }), barrier.line));
  for (u32 warp = 0; warp * 32 < block_threads; ++warp)
    for (u32 open = warps[warp].open; open != 0; open &= open - 1) {
      const Meeting& meeting = warps[warp].meetings[static_cast<u32>(__builtin_ctz(open))];
      waits.push_back(
          describe_meeting(meeting, warps[warp], warp, std::min(block_threads - warp * 32, 32u)));
    }
  const std::size_t shown = std::min(waits.size(), kShown);
  std::string text = fmt::format("a rendezvous cannot complete: {}",
                                 fmt::join(waits.begin(), waits.begin() + shown, "; "));
  if (waits.size() > shown) text += fmt::format("; and {} more", waits.size() - shown);
  return text;
}

}  // namespace parity
