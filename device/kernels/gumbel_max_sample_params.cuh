// The parameter structs of gumbel_max_sample and of gumbel_max_combine, which it launches where a
// row is split, the same for host code and kernel text.
#pragma once

namespace parity {

constexpr unsigned kGumbelThreads = 256;
constexpr unsigned kGumbelCombineThreads = 32;
constexpr unsigned kGumbelMostSplits = 2 * kGumbelCombineThreads;

struct GumbelMaxSampleParams {
  const void* logits;              // [B, V]
  const float* temperature;        // [B]
  const unsigned long long* seed;  // [B]
  const unsigned long long* step;  // [B]
  int* token;                      // [B]
  unsigned char* ok;               // [B]
  unsigned long long* partial;     // [B, splits]; unused where splits is 1
  unsigned vocabulary;
  unsigned splits;
};

struct GumbelMaxCombineParams {
  const unsigned long long* partial;  // [B, splits]
  int* token;                         // [B]
  unsigned char* ok;                  // [B]
  unsigned splits;                    // kGumbelMostSplits at most
};

}  // namespace parity
