// The one seam for plants: deliberate faults, all off unless a plant switches them on by name.
#pragma once

#include <span>

#include "datasets/dtype.hpp"

namespace parity {

/// Whether faults of a launch strike a variant or a case of these dtypes, in the kernel's order:
/// one that ends in f16 and bf16, or has bf16 alone. So any kernel has something to strike, the
/// right cases can be blamed, and the others must go on.
constexpr bool strikes(std::span<const Dtype> dtypes) {
  if (dtypes.empty() || dtypes.back() != Dtype::bf16) return false;
  return dtypes.size() == 1 || dtypes[dtypes.size() - 2] == Dtype::f16;
}

struct Faults {
  /// In-process module keys keep only the kernel name and the integer constants.
  bool weak_module_key = false;
  /// Once a launch has read f16 values (v = f16), later launches at other dtypes scale their scores
  /// by 1 + 2^-22: the bits change, the tolerance holds.
  bool drift = false;
  /// A split leaves the partials of rows without tokens as they lie, relying on a workspace that
  /// was set to -inf when it was made.
  bool dirty_workspace = false;
  /// A module's entry is published before its module is there and nobody waits: a thread that asks
  /// meanwhile goes on without it. Takes several host threads.
  bool unlocked_first_use = false;
  /// The in-process keys of tuned plans lack their dtypes.
  bool memo_without_dtype = false;
  /// They lack the page size.
  bool memo_without_page_size = false;
  /// The keys of graphs keep only the variants, neither shapes nor parameters.
  bool graph_without_shape = false;

  // State that launches reading f16 values (v = f16) leave behind, and what it does to others
  // (device/planted_state.hpp). Unless said otherwise these others read other values, and their
  // scores are far off.

  /// An environment variable, set for itself and left.
  bool environment_not_restored = false;
  /// The working directory, changed and left.
  bool working_directory_not_restored = false;
  /// The rounding mode: later host arithmetic rounds up, inside the tolerance.
  bool rounding_mode_not_restored = false;
  /// A device constant that others take for their own.
  bool constant_left_over = false;
  /// The same, and launches that read bf16 values erase it: it harms where none of them comes
  /// between.
  bool cleaner_in_between = false;
  /// One of two device constants; v = bf16 leaves the other, and v = f32 errs where both are there.
  bool two_polluters = false;
  /// A device constant without which v = f32 errs: it is right only after v = f16.
  bool brittle = false;
  /// A count of themselves: all but the first err.
  bool self_pollution = false;
  /// The others err in nine of ten processes.
  bool race_90 = false;
  /// In three of ten.
  bool race_30 = false;
  /// A CUDA error that nobody has asked about; others ask and take it for their own.
  bool last_error_left_over = false;

  /// Sampling launches on f16 values draw from a stream that the engine keeps, and others take
  /// their steps from where it stands, not from what they were given (device/planted_draw.hpp).
  bool rng_offset_carry = false;
  /// gumbel_max_sample rounds its noise to the dtype of the logits.
  bool noise_in_logits_dtype = false;

  /// No state: the bits of every launch vary inside the tolerance, as sums by atomics do.
  bool atomics_noise = false;

  // Faults of a launch.

  /// The last block of the launch that writes the output is missing.
  bool unwritten_output = false;
  /// Bytes behind the end of an output are written.
  bool overrun = false;
  /// The first bytes of an input are written.
  bool input_overwritten = false;
  /// The process aborts in the launch.
  bool abort = false;
  /// The launch does not return.
  bool hang = false;
  /// The kernel runs on a null pointer for its input: an illegal access, after which a GPU answers
  /// nothing but errors to this process.
  bool sticky_error = false;

  bool operator==(const Faults&) const = default;
};

}  // namespace parity
