// The parameter struct of rejection_sample and what its launches hand on to each other, the same
// for host code and kernel text.
#pragma once

namespace parity {

constexpr unsigned kRejectionSampleThreads = 256;
constexpr unsigned kRejectionSampleMostSplits = 64;
/// Each round at least halves the bit patterns that the pivot may lie in, of which there are fewer
/// than 2^31.
constexpr unsigned kRejectionSampleMostRounds = 31;
/// A radix select's step: eight bits.
constexpr unsigned kRejectionSampleBins = 256;

/// What a launch does, in the order of launches.
enum class RejectionSamplePhase : unsigned {
  extent,  // largest value
  digit,   // next eight bits of the k-th largest value
  totals,  // masses of the row
  round,   // one round of the draw
  finish   // whatever is left, a block a row; of rows that are not split, everything
};

/// Of one row. All values are bit patterns of f32.
struct RejectionSampleState {
  unsigned long long limit;      // what a value that top_p keeps may have above it
  unsigned long long draw_mass;  // draw weights of all values above low
  unsigned max;
  unsigned draw_max;
  unsigned kth;   // digits so far of the k-th largest value; 0: top_k does not bear on the total
  unsigned left;  // the wanted value's rank among those that begin with these digits
  unsigned low;
  unsigned high;
  unsigned pivot0;
  unsigned pivot1;
  unsigned candidate;
  unsigned rounds;  // candidates drawn
  unsigned ended;   // 0: not yet, 1: with the candidate, 2: with none
  unsigned reserved;
};

/// Of one split of a row.
struct RejectionSamplePart {
  unsigned long long sums[5];
};

struct RejectionSampleParams {
  const void* probs;               // [B, V]
  const void* draw;                // [B, V], or null: probs
  const int* top_k;                // [B]
  const void* top_p;               // [B]
  const void* min_p;               // [B]
  const unsigned long long* seed;  // [B]
  const unsigned long long* step;  // [B]
  int* token;                      // [B]
  unsigned char* ok;               // [B]
  int* rounds;                     // [B]
  // What the launch before has left, and what this one leaves.
  const RejectionSampleState* state_before;  // [B]
  RejectionSampleState* state;               // [B]
  const RejectionSamplePart* parts_before;   // [B, splits]
  RejectionSamplePart* parts;                // [B, splits]
  const unsigned* bins_before;               // [B, splits, kRejectionSampleBins]
  unsigned* bins;
  unsigned vocabulary;
  unsigned splits;
  RejectionSamplePhase phase;
  unsigned number;  // of the launch among those of its phase
  unsigned digits;  // launches of phase digit; 0: filters are judged against the whole row
};

}  // namespace parity
