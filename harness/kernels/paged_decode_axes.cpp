// Values of suite full, and what is no case.
#include "harness/kernels/paged_decode_axes.hpp"

#include <fmt/format.h>

#include <array>

#include "harness/case.hpp"
#include "harness/kernels/launch_variant.hpp"
#include "harness/kernels/paged_decode_layout.hpp"

namespace parity {
namespace {

/// Bounds what a mistyped id may ask of memory, not what a kernel can do.
constexpr std::int64_t kMost = 4096;

bool is_fp8(Dtype dtype) {
  return is_floating(dtype) && size_of(dtype) == 1;
}

bool one_score_only(const Case& c) {
  return c.constant("window") == 1;
}

}  // namespace

std::vector<DtypeAxis> paged_decode_dtypes() {
  using enum Dtype;
  const std::vector<Dtype> outputs = {f32, f16, bf16};
  const std::vector<Dtype> pools = {f32, f16, bf16, e4m3, e5m2};
  return {{"q", outputs},
          {.name = "out", .values = outputs, .same_as = "q"},
          {"k", pools},
          {"v", pools}};
}

std::vector<ConstantAxis> paged_decode_constants() {
  return {
      {"d", all_head_dims()},
      // With hkv: groups 1 to 8, 10, 12, 16, 32 and 71, the small ones also of several kv heads.
      {"hq", {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 71}},
      {"hkv", {1, 2, 3, 4}},
      {"page", {1, 2, 8, 16, 32, 64, 128, 256}},
      {.name = "window", .values = {0, 1, 5, 16, 40, 4096}, .usual = 0},
      {.name = "softcap", .values = {0, 5, 50}, .usual = 0},
      {.name = "layout",
       .values = {0, 1, 2, 3},
       .schedule = true,
       .words = page_layout_words(),
       .usual = 0},
      {.name = "graph", .values = {0, 1}, .schedule = true, .words = {"0", "1"}, .usual = 0}};
}

std::vector<Requirement> paged_decode_requirements() {
  return {
      {{"d"},
       "d must be a multiple of 8 from 8 to 256",
       [](const Case& c) {
         const std::int64_t d = c.constant("d");
         return d >= 8 && d <= 256 && d % 8 == 0;
       }},
      {{"hq", "hkv"},
       fmt::format("hq must be a multiple of hkv, both from 1 to {}", kMost),
       [](const Case& c) {
         const std::int64_t heads = c.constant("hq");
         const std::int64_t kv_heads = c.constant("hkv");
         return kv_heads >= 1 && heads >= 1 && heads <= kMost && heads % kv_heads == 0;
       }},
      {{"page"},
       fmt::format("page must be 1 to {}", kMost),
       [](const Case& c) { return c.constant("page") >= 1 && c.constant("page") <= kMost; }},
      {{"softcap"},
       fmt::format("softcap must be 0 (off) to {}", kMost),
       [](const Case& c) { return c.constant("softcap") <= kMost; }},
      {{"q", "out"},
       "out must be f32 or q's dtype",
       [](const Case& c) {
         return c.dtype("out") == Dtype::f32 || c.dtype("out") == c.dtype("q");
       }},
      {{"k", "v", "layout"},
       "pages that interleave k and v need one dtype for both",
       [](const Case& c) {
         return page_layout(c) != PageLayout::interleaved || c.dtype("k") == c.dtype("v");
       }},
      {{"softcap", "window", "recipe"},
       "softcap above 20 hardly moves the scores of rows that attend to fewer than 16 tokens",
       [](const Case& c) {
         const std::int64_t window = c.constant("window");
         return c.constant("softcap") <= 20 ||
                ((window == 0 || window >= 16) && c.recipe != "short");
       }},
      // A needle of one token is 0: so is its score, whatever multiplies or caps it.
      {{"window", "k"},
       "with window=1 every score is 0, which cannot tell whether k_scale is used",
       [](const Case& c) { return !one_score_only(c) || !is_fp8(c.dtype("k")); }},
      {{"window", "softcap"},
       "with window=1 every score is 0, which cannot tell whether softcap is used",
       [](const Case& c) { return !one_score_only(c) || c.constant("softcap") == 0; }},
  };
}

std::vector<std::string> paged_decode_published(std::string_view kernel,
                                                const std::vector<std::string_view>& schedules) {
  constexpr std::array kModels = {
      "q=bf16,k=bf16,v=bf16/d=128,hq=32,hkv=8,page=16",
      "q=bf16,k=e4m3,v=e4m3/d=128,hq=28,hkv=4,page=16",
      "q=f16,k=f16,v=f16/d=96,hq=32,hkv=32,page=16",
      "q=bf16,k=bf16,v=bf16/d=256,hq=16,hkv=8,page=16,window=4096,softcap=50",
      "q=bf16,k=e4m3,v=e4m3/d=128,hq=64,hkv=8,page=64",
      "q=f16,k=f16,v=f16/d=64,hq=71,hkv=1,page=1",
  };
  std::vector<std::string> ids;
  for (const std::string_view model : kModels)
    ids.push_back(
        fmt::format("{}/{}{}/context", kernel, model, schedules.at(ids.size() % schedules.size())));
  return ids;
}

}  // namespace parity
