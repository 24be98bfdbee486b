// The oracle: is an outcome right? Special values first, then `if (!(error <= tolerance)) fail`, so
// that NaN never passes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/pack.hpp"
#include "harness/outcome.hpp"

namespace parity {

enum class Verdict : std::uint8_t {
  passed,
  failed,
  untrusted,
  unsupported,
  error,
  crashed,
  timed_out,
  not_run
};

/// The symptom. `bits`: right by tolerance, yet other bits than in a fresh process; `plan`: run
/// another way than there.
enum class Fingerprint : std::uint8_t {
  none,
  mismatch,
  bits,
  plan,
  guard,
  unwritten,
  input,
  crash,
  timeout,
  error
};

std::string_view name(Verdict verdict);
std::string_view name(Fingerprint fingerprint);

/// Row tolerance of an output dtype. The only table; static_assert: none above 2e-3.
double row_tolerance(Dtype output);

/// What Judgement::error of this output is held to: its row tolerance, 1e-5 for a log-sum-exp, 0
/// where it must be exact.
double tolerance_of(const PackOutput& output);

/// How far one output is off.
struct OutputError {
  std::string name;
  double error = 0;  ///< as Judgement::error
  double tolerance = 0;
  /// Worst element's share of what its own bound allows beyond half a spacing; 0 for other rules
  /// than `rows`, whose elements have no other bound.
  double of_bound = 0;
};

/// Of one output, or of a whole case (the worst of its outputs).
struct Judgement {
  Verdict verdict = Verdict::not_run;
  Fingerprint fingerprint = Fingerprint::none;
  /// Worst row error (rows), worst |diff| scaled to tolerance 1e-5 (log_sum_exp) or the share of
  /// elements that are wrong (exact), and its tolerance.
  double error = 0;
  double tolerance = 0;
  std::vector<OutputError> outputs;  ///< each that was compared, in the pack's order
  /// First failing check: "out[1,3,17]: got 0.25, want 0.5 (row error 0.3 > 1e-05)".
  std::string detail;
};

/// Judges one output against expected and bound. Throws UsageError when types do not agree.
Judgement judge_output(const PackOutput& want, const Tensor& got);

/// Ratio of `judgement` to its tolerance as the pack builder needs it: how many times the tolerance
/// the worst row is off; infinity for a special or an exact value that is wrong.
double violation(const PackOutput& want, const Tensor& got);

/// "out[1,3,17]": element `index` (row-major) of an output.
std::string place(const PackOutput& output, std::int64_t index);

/// Reads a worker's output. Throws DatasetError when the blob is missing, short or not what its
/// digest says.
class BlobStore {
 public:
  virtual ~BlobStore() = default;
  virtual Tensor read(const TensorType& type, const Digest& digest) const = 0;
};

/// Judges outcomes of cases, each distinct (case, digest) once. Tier 1 (reference) and tier 3
/// (hygiene); tier 2 (bits) needs a baseline and belongs to the findings.
class Judge {
 public:
  /// `cases` in index order; `pack` holds expected and bound for all of them. Input data is not
  /// kept.
  Judge(const std::vector<std::string>& ids, const PackReader& pack, const BlobStore& blobs);
  Judge(std::vector<PackCase> cases, const BlobStore& blobs);

  /// Precedence of symptoms: crash/timeout/error, guard, input, unwritten, mismatch.
  Judgement judge(std::size_t case_index, const Outcome& outcome);

  /// Where two outcomes of a case first differ: plan, refusal, or the first element whose bits do,
  /// such as "out[0,1,3]: 0.25 here, 0.250000030 alone". One line.
  std::string first_difference(std::size_t case_index, const Outcome& here,
                               const Outcome& alone) const;

  const PackCase& pack_case(std::size_t case_index) const { return cases_.at(case_index); }

  /// A person permits this case's bits to vary: reference and hygiene are all that it is held to.
  void permit_noise(std::size_t case_index) { noisy_.insert(case_index); }
  bool noise_permitted(std::size_t case_index) const { return noisy_.contains(case_index); }

 private:
  std::vector<PackCase> cases_;
  const BlobStore& blobs_;
  std::map<std::pair<std::size_t, Digest>, Judgement>
      known_;  ///< key: case, digest over its outputs'
  std::set<std::size_t> noisy_;
};

}  // namespace parity
