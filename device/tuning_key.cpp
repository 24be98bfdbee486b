// Tuning keys as text, and the plans to choose from.
#include "device/tuning_key.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/ceil_divide.hpp"
#include "device/variant.hpp"

namespace parity {
namespace {

using Number = std::pair<std::string_view, std::int64_t TuningKey::*>;
constexpr std::array kNumbers = {
    Number{"D", &TuningKey::head_dim},
    Number{"GROUP", &TuningKey::group_size},
    Number{"HKV", &TuningKey::kv_heads},
    Number{"SOFTCAP", &TuningKey::softcap},
    Number{"PAGE", &TuningKey::page_size},
    Number{"WINDOW", &TuningKey::window},
    Number{"BATCH", &TuningKey::batch},
    Number{"LONGEST", &TuningKey::longest_slots},
    Number{"TOTAL", &TuningKey::total_slots},
    Number{"K_PAGE_GAP", &TuningKey::k_page_gap},
    Number{"K_SLOT_GAP", &TuningKey::k_slot_gap},
    Number{"K_HEAD_GAP", &TuningKey::k_head_gap},
    Number{"V_PAGE_GAP", &TuningKey::v_page_gap},
    Number{"V_SLOT_GAP", &TuningKey::v_slot_gap},
    Number{"V_HEAD_GAP", &TuningKey::v_head_gap},
    Number{"SMS", &TuningKey::multiprocessors},
};
using Word = std::pair<std::string_view, std::string TuningKey::*>;
constexpr std::array kWords = {
    Word{"device", &TuningKey::device},
    Word{"architecture", &TuningKey::architecture},
    Word{"driver", &TuningKey::driver},
    Word{"code", &TuningKey::code},
};
constexpr std::string_view kNoEnd = "it does not end in @device/architecture/driver/code";
/// The kernels that are tuned.
constexpr std::array<std::string_view, 1> kKernels = {"paged_decode_v2"};
constexpr std::array<std::string_view, 4> kAxes = {"q", "out", "k", "v"};
/// Beyond any page table; keeps a count read from a file from overflowing.
constexpr std::int64_t kMostSlots = std::int64_t{1} << 40;

std::int64_t rounded_up(std::int64_t count) {
  return std::min(kMostSlots,
                  static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count))));
}

bool belongs_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '+' || c == '-';
}

std::string word_of(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return !belongs_in_word(c); }, '_');
  return text.empty() ? "_" : text;
}

[[noreturn]] void refuse(std::string_view text, std::string_view what) {
  throw UsageError(fmt::format("no tuning key, since {}: '{}'", what, text));
}

/// What no launch can have.
void check(const TuningKey& key, std::string_view text) {
  const auto between = [&](std::int64_t TuningKey::*field, std::int64_t least, std::int64_t most) {
    if (key.*field >= least && key.*field <= most) return;
    const auto named = std::ranges::find(kNumbers, field, &Number::second);
    refuse(text,
           fmt::format("{} is {}, but must be {} to {}", named->first, key.*field, least, most));
  };
  if (std::ranges::find(kKernels, key.kernel) == kKernels.end())
    refuse(text, fmt::format("kernel '{}' is not tuned", key.kernel));
  between(&TuningKey::group_size, 1, kMostSlots);
  between(&TuningKey::kv_heads, 1, kMostSlots);
  between(&TuningKey::softcap, 0, 1);
  between(&TuningKey::page_size, 1, 1 << 30);
  between(&TuningKey::window, 0, std::numeric_limits<std::int64_t>::max());
  between(&TuningKey::batch, 1, kMostSlots);
  between(&TuningKey::longest_slots, 1, kMostSlots);
  between(&TuningKey::total_slots, 1, kMostSlots);
  between(&TuningKey::multiprocessors, 1, 1 << 20);
  if (!std::ranges::equal(key.dtypes, kAxes, {}, [](const auto& axis) { return axis.first; }))
    refuse(text, "its dtypes are not q, out, k, v");
  tuning_candidates(key);
}

/// Longest first.
std::vector<std::int64_t> chunk_lengths(std::int64_t pages) {
  std::vector<std::int64_t> lengths;
  const auto add = [&](std::int64_t chunks) {
    const std::int64_t length = ceil_divide(pages, std::min(chunks, pages));
    if (lengths.empty() || length < lengths.back()) lengths.push_back(length);
  };
  for (std::int64_t chunks = 1; chunks < pages; chunks *= 2) {
    add(chunks);
    if (chunks > 1) add(chunks / 2 * 3);
  }
  add(pages);
  return lengths;
}

}  // namespace

std::string TunedPlan::canonical() const {
  return fmt::format("ppc={},tile={}", pages_per_chunk, tile);
}

TunedPlan TunedPlan::parse(std::string_view canonical) {
  TunedPlan plan;
  std::string_view rest = canonical;
  for (const auto& [name, field] :
       {std::pair{"ppc=", &TunedPlan::pages_per_chunk}, std::pair{",tile=", &TunedPlan::tile}}) {
    if (!rest.starts_with(name)) break;
    rest.remove_prefix(std::string_view(name).size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), plan.*field);
    if (error == std::errc{}) rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (plan.canonical() != canonical)
    throw UsageError(fmt::format("'{}' is no tuned plan; it is ppc=4,tile=8", canonical));
  return plan;
}

TuningKey TuningKey::of(const std::string& kernel, const PagedDecodeArgs& args,
                        const std::vector<std::int32_t>& page_indptr,
                        const DeviceIdentity& identity, const std::string& code) {
  const Shape& q = args.q.type.shape;
  TuningKey key;
  key.kernel = kernel;
  key.dtypes = {{"q", args.q.type.dtype},
                {"out", args.out.type.dtype},
                {"k", args.k.pages.type.dtype},
                {"v", args.v.pages.type.dtype}};
  key.head_dim = q[2];
  key.kv_heads = args.kv_heads;
  key.group_size = q[1] / args.kv_heads;
  key.softcap = args.softcap > 0.0f ? 1 : 0;
  key.page_size = args.page_size;
  key.window = args.window;
  std::int64_t longest = 0;
  for (std::size_t row = 0; row + 1 < page_indptr.size(); ++row)
    longest = std::max(longest, std::int64_t{page_indptr[row + 1]} - page_indptr[row]);
  key.batch = rounded_up(q[0]);
  key.longest_slots = rounded_up(longest * args.page_size);
  key.total_slots = rounded_up(std::int64_t{page_indptr.back()} * args.page_size);
  const std::int64_t token = args.kv_heads * key.head_dim;
  key.k_page_gap = args.k.stride_page - args.page_size * token;
  key.k_slot_gap = args.k.stride_slot - token;
  key.k_head_gap = args.k.stride_head - key.head_dim;
  key.v_page_gap = args.v.stride_page - args.page_size * token;
  key.v_slot_gap = args.v.stride_slot - token;
  key.v_head_gap = args.v.stride_head - key.head_dim;
  key.multiprocessors = identity.multiprocessors;
  key.device = word_of(identity.name);
  key.architecture = word_of(identity.architecture);
  key.driver = word_of(identity.driver);
  key.code = word_of(code);
  return key;
}

std::string TuningKey::canonical() const {
  VariantSpec spec{kernel, {}, dtypes};
  for (const auto& [name, field] : kNumbers)
    if (this->*field != 0) spec.constants.emplace_back(name, this->*field);
  return fmt::format("{}@{}/{}/{}/{}", spec.canonical(), device, architecture, driver, code);
}

TuningKey TuningKey::parse(std::string_view canonical) {
  const std::size_t at = canonical.rfind('@');
  if (at == canonical.npos) refuse(canonical, kNoEnd);
  VariantSpec spec = VariantSpec::parse(canonical.substr(0, at));
  TuningKey key;
  key.kernel = std::move(spec.kernel);
  key.dtypes = std::move(spec.dtypes);
  std::string_view rest = canonical.substr(at);
  for (const auto& [name, word] : kWords) {
    if (rest.empty()) refuse(canonical, kNoEnd);
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    key.*word = rest.substr(1, end - 1);
    if (word_of(key.*word) != key.*word)
      refuse(canonical, fmt::format("its {} '{}' is no word", name, key.*word));
    rest.remove_prefix(end);
  }
  for (const auto& [name, value] : spec.constants) {
    const auto known = std::ranges::find(kNumbers, name, &Number::first);
    if (known == kNumbers.end()) refuse(canonical, fmt::format("it has no {}", name));
    key.*known->second = value;
  }
  // One spelling only, or one key would be two.
  if (const std::string spelt = key.canonical(); spelt != canonical)
    refuse(canonical, fmt::format("it would be spelt '{}'", spelt));
  check(key, canonical);
  return key;
}

Dtype TuningKey::dtype(std::string_view axis) const {
  for (const auto& [name, dtype] : dtypes)
    if (name == axis) return dtype;
  throw UsageError(fmt::format("tuning key '{}' has no dtype {}", canonical(), axis));
}

PagedDecodeChoice TuningKey::choice() const {
  return {.q = dtype("q"),
          .out = dtype("out"),
          .k = dtype("k"),
          .v = dtype("v"),
          .head_dim = head_dim,
          .group_size = group_size,
          .softcap = softcap != 0};
}

std::int64_t TuningKey::longest_pages() const {
  return std::max<std::int64_t>(1, ceil_divide(longest_slots, page_size));
}

std::string tuning_code(const std::vector<std::string>& kernels, const ToolchainIdentity& toolchain,
                        const KernelTexts& texts) {
  std::string all =
      fmt::format("{}\n{}\n{}\n{}\n{}\n", toolchain.name, toolchain.version, toolchain.architecture,
                  toolchain.options.size(), fmt::join(toolchain.options, "\n"));
  for (const std::string& kernel : kernels) {
    const std::string text = expand(kernel, texts);
    all += fmt::format("{} {}\n{}", kernel, text.size(), text);
  }
  return digest(all).hex();
}

std::vector<TunedPlan> tuning_candidates(const TuningKey& key) {
  const PagedDecodeChoice choice = key.choice();
  paged_decode_variant(key.kernel, choice);  // Refuses what has no module, saying why.
  std::vector<TunedPlan> candidates;
  for (const std::int64_t tile : paged_decode_tiles(choice.group_size))
    for (const std::int64_t length : chunk_lengths(key.longest_pages()))
      candidates.push_back({length, tile});
  return candidates;
}

}  // namespace parity
