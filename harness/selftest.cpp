#include "harness/selftest.hpp"

#include <algorithm>

namespace parity {
namespace {

template <typename Holds>
std::size_t count(const SelftestReport& report, const Holds& holds) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.rows, [&](const SelftestRow& row) { return row.applicable && holds(row); }));
}

}  // namespace

std::size_t SelftestReport::plants() const {
  return count(*this, [](const SelftestRow& row) { return !row.control; });
}

std::size_t SelftestReport::plants_found() const {
  return count(*this, [](const SelftestRow& row) { return !row.control && row.found; });
}

std::size_t SelftestReport::plants_named() const {
  return count(*this, [](const SelftestRow& row) {
    return !row.control && row.found && row.missing.empty();
  });
}

std::size_t SelftestReport::false_accusations() const {
  return count(*this, [](const SelftestRow& row) { return row.control && !row.found; });
}

int exit_code(const SelftestReport& report) {
  const auto any = [&](auto&& holds) { return count(report, holds) > 0; };
  if (report.interrupted) return 5;
  if (any([](const SelftestRow& row) { return !row.worker_error.empty(); })) return 5;
  if (report.false_accusations() > 0) return 3;
  return any([](const SelftestRow& row) { return !row.found || !row.missing.empty(); }) ? 1 : 0;
}

}  // namespace parity
