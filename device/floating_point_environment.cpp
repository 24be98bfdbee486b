// The control bits of MXCSR and of the x87 unit; elsewhere than on x86-64 the rounding mode alone.
#include "device/floating_point_environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

#include "datasets/errors.hpp"

namespace parity {
namespace {

constexpr const char* kMxcsr = "mxcsr";
constexpr const char* kRoundingMode = "rounding_mode";
constexpr const char* kX87 = "x87_control_word";

/// In the order in which MXCSR numbers them.
constexpr std::array<std::pair<std::string_view, int>, 4> kRoundings = {
    {{"nearest", FE_TONEAREST}, {"down", FE_DOWNWARD}, {"up", FE_UPWARD}, {"zero", FE_TOWARDZERO}}};

std::size_t rounding_of(std::string_view text) {
  const auto* const found =
      std::ranges::find(kRoundings, text, &std::pair<std::string_view, int>::first);
  if (found == kRoundings.end())
    throw UsageError(
        fmt::format("'{}' is no rounding mode; there are nearest, down, up, zero", text));
  return static_cast<std::size_t>(found - kRoundings.begin());
}

const std::string& content_of(const std::vector<CellState>& cells, std::string_view name,
                              std::size_t count) {
  const auto found = std::ranges::find(cells, name, &CellState::cell);
  if (cells.size() != count || found == cells.end())
    throw UsageError(fmt::format(
        "a floating-point environment has {} cells here, '{}' is one of them", count, name));
  return found->content;
}

#if defined(__x86_64__)

constexpr unsigned kSticky = 0x3f;
constexpr unsigned kDaz = 1u << 6;
constexpr unsigned kRoundingShift = 13;
constexpr unsigned kRoundingBits = 3u << kRoundingShift;
constexpr unsigned kFtz = 1u << 15;

std::string mxcsr_text(unsigned bits) {
  return fmt::format("{:#x}{}{}", bits, (bits & kFtz) != 0 ? " ftz" : "",
                     (bits & kDaz) != 0 ? " daz" : "");
}

std::string x87_text(unsigned bits) {
  return fmt::format("{:#x}", bits);
}

/// The inverse of `write`. A bit that the register does not have ends the process when it is
/// loaded.
unsigned bits_of(const std::string& text, std::string (*write)(unsigned), unsigned allowed) {
  unsigned bits = 0;
  const char* const begin = text.data() + (text.starts_with("0x") ? 2 : 0);
  std::from_chars(begin, text.data() + text.size(), bits, 16);
  if (text != write(bits) || (bits & ~allowed) != 0)
    throw UsageError(fmt::format("'{}' is no content of a floating-point control register", text));
  return bits;
}

unsigned x87_control_word() {
  std::uint16_t word = 0;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}

#endif

}  // namespace

#if defined(__x86_64__)

std::vector<CellState> FloatingPointEnvironment::read() {
  const unsigned mxcsr = __builtin_ia32_stmxcsr();
  const std::size_t rounding = (mxcsr & kRoundingBits) >> kRoundingShift;
  return {{kMxcsr, mxcsr_text(mxcsr & ~(kSticky | kRoundingBits))},
          {kRoundingMode, std::string(kRoundings[rounding].first)},
          {kX87, x87_text(x87_control_word())}};
}

void FloatingPointEnvironment::set(const std::vector<CellState>& cells) {
  const auto rounding = static_cast<unsigned>(rounding_of(content_of(cells, kRoundingMode, 3)));
  const unsigned mxcsr =
      bits_of(content_of(cells, kMxcsr, 3), mxcsr_text, 0xffffu & ~(kSticky | kRoundingBits));
  const auto x87 =
      static_cast<std::uint16_t>(bits_of(content_of(cells, kX87, 3), x87_text, 0xffffu));
  __asm__ volatile("fldcw %0" : : "m"(x87));
  __builtin_ia32_ldmxcsr((__builtin_ia32_stmxcsr() & kSticky) | mxcsr | rounding << kRoundingShift);
}

#else

std::vector<CellState> FloatingPointEnvironment::read() {
  const auto* const found =
      std::ranges::find(kRoundings, fegetround(), &std::pair<std::string_view, int>::second);
  return {{kRoundingMode, std::string(found == kRoundings.end() ? "unknown" : found->first)}};
}

void FloatingPointEnvironment::set(const std::vector<CellState>& cells) {
  fesetround(kRoundings[rounding_of(content_of(cells, kRoundingMode, 1))].second);
}

#endif

}  // namespace parity
