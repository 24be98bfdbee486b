// Tuning keys for tests: one, and all that differ from it in a single field.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "device/tuning_key.hpp"

namespace parity::test {

/// 128 tokens, 64 in the longest row.
inline TuningKey sample_tuning_key() {
  TuningKey key;
  key.kernel = "paged_decode_v2";
  key.dtypes = {{"q", Dtype::f16}, {"out", Dtype::f16}, {"k", Dtype::f16}, {"v", Dtype::f16}};
  key.head_dim = 256;
  key.group_size = 2;
  key.kv_heads = 1;
  key.page_size = 16;
  key.batch = 4;
  key.longest_slots = 64;
  key.total_slots = 128;
  key.multiprocessors = 8;
  key.device = "Some_CPU";
  key.architecture = "x86_64+avx2";
  key.driver = "host";
  key.code = "c0de";
  return key;
}

inline TuningKey with_dtype(TuningKey key, std::size_t axis, Dtype dtype) {
  key.dtypes[axis].second = dtype;
  return key;
}

/// By the field that differs.
inline std::vector<std::pair<std::string, TuningKey>> differing_tuning_keys() {
  const TuningKey sample = sample_tuning_key();
  std::vector<std::pair<std::string, TuningKey>> keys;
  const auto add = [&](std::string field, auto TuningKey::*member, auto value) {
    keys.emplace_back(std::move(field), sample);
    keys.back().second.*member = value;
  };
  for (std::size_t axis = 0; axis < 4; ++axis) {
    TuningKey key = with_dtype(sample, axis, Dtype::f32);
    if (axis == 0) key = with_dtype(key, 1, Dtype::f32);  // out is q's dtype or f32
    keys.emplace_back(sample.dtypes[axis].first, key);
  }
  add("kernel", &TuningKey::kernel, std::string("paged_decode_v3"));
  add("head_dim", &TuningKey::head_dim, std::int64_t{128});
  add("group_size", &TuningKey::group_size, std::int64_t{1});
  add("kv_heads", &TuningKey::kv_heads, std::int64_t{2});
  add("softcap", &TuningKey::softcap, std::int64_t{1});
  add("page_size", &TuningKey::page_size, std::int64_t{8});
  add("window", &TuningKey::window, std::int64_t{4});
  add("batch", &TuningKey::batch, std::int64_t{8});
  add("longest_slots", &TuningKey::longest_slots, std::int64_t{128});
  add("total_slots", &TuningKey::total_slots, std::int64_t{256});
  add("k_page_gap", &TuningKey::k_page_gap, std::int64_t{8});
  add("k_slot_gap", &TuningKey::k_slot_gap, std::int64_t{-8});
  add("k_head_gap", &TuningKey::k_head_gap, std::int64_t{8});
  add("v_page_gap", &TuningKey::v_page_gap, std::int64_t{8});
  add("v_slot_gap", &TuningKey::v_slot_gap, std::int64_t{-8});
  add("v_head_gap", &TuningKey::v_head_gap, std::int64_t{8});
  add("multiprocessors", &TuningKey::multiprocessors, std::int64_t{132});
  add("device", &TuningKey::device, std::string("Other_CPU"));
  add("architecture", &TuningKey::architecture, std::string("x86_64"));
  add("driver", &TuningKey::driver, std::string("580.82.07"));
  add("code", &TuningKey::code, std::string("0dd"));
  return keys;
}

}  // namespace parity::test
