// Cases of paged decode whose inputs a test may change, and a runtime that runs them through
// either version.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tensor.hpp"
#include "device/arena.hpp"
#include "device/paged_decode_v1.hpp"
#include "device/paged_decode_v2.hpp"
#include "device/runtime.hpp"
#include "harness/case.hpp"
#include "tests/test_home.hpp"

namespace parity {

struct DecodeCase {
  /// An id of paged_decode_v1 without the kernel's name.
  explicit DecodeCase(const std::string& id);
  /// `batch` equal rows of one token, D = 8, one head.
  static DecodeCase uniform(std::int64_t batch);

  /// `batch` equal rows of `first` + `last` tokens, D = 8, one head, page 64, whose scores are all
  /// equal; v is 1 in the last tokens and 0 in the others.
  static DecodeCase equal_scores(std::int64_t first, std::int64_t last, std::int64_t batch = 1);

  std::int64_t batch() const;
  /// Another constant that inputs do not depend on here: the caller has made them.
  void set_constant(std::string_view name, std::int64_t value);
  /// What the reference says of the inputs as they are now.
  ReferenceResult expectation() const;
  /// Every k and v element that no row attends becomes `value`.
  void fill_unattended(double value);
  /// v becomes `value` at each row's last token and 0 at the others.
  void set_value_of_newest_token(double value);
  /// The same problem with one row of the batch.
  DecodeCase only_row(std::int64_t row) const;
  /// The same problem in pools whose pages are `slots` apart.
  DecodeCase padded(std::int64_t slots) const;

  Case c;
  TensorList inputs;

 private:
  /// page · page_size + slot of each attended token of a row.
  std::vector<std::int64_t> slots_of(std::int64_t row) const;
};

struct Decoded {
  Tensor out;
  Tensor lse;
};

/// A pool that takes up address space only, for page ids no real pool could be given here.
class SparsePool {
 public:
  SparsePool(Shape shape, Dtype dtype);
  ~SparsePool();
  SparsePool(const SparsePool&) = delete;
  SparsePool& operator=(const SparsePool&) = delete;

  DeviceTensor tensor() const { return {type_, memory_}; }

 private:
  TensorType type_;
  void* memory_;
};

/// Pages per chunk for paged_decode_v2; nothing: paged_decode_v1.
using Split = std::optional<std::int64_t>;

class DecodeRun {
 public:
  /// Throws NoDevice as make_runtime does.
  explicit DecodeRun(Faults faults = {}, BackendKind backend = test::test_backend());

  Runtime& runtime() { return *runtime_; }
  /// Arguments in device memory, until the next call.
  PagedDecodeArgs place(const DecodeCase& decode, Poison poison = Poison::ones);
  /// Also expects that nothing but the outputs was written, these wholly, and the same bits
  /// whatever lies around the buffers.
  Decoded decode(const DecodeCase& decode, Split split = {});
  /// Amid one poison only.
  Decoded decode_amid(Poison poison, const DecodeCase& decode, Split split = {});
  /// paged_decode_v1 of what place() gave, with these arguments.
  Decoded decode_placed(const PagedDecodeArgs& args);
  /// out of one row whose only page is `page`, filled alike for every page. Both k and v lie there.
  /// `stride`: of pages, in pages of the pool; 2 where K and V interleave.
  Tensor decode_one_page(const DeviceTensor& pool, std::int64_t page, std::int64_t stride = 1);
  /// Of the last launch; expects that it wrote them wholly and nothing else.
  Decoded outputs();

 private:
  std::unique_ptr<Runtime> runtime_;
  std::unique_ptr<Arena> arena_;  ///< goes before the runtime
  std::vector<ArenaBuffer> buffers_;
};

/// The kernel's outputs against the reference, judged as in a run.
void expect_right(const DecodeCase& decode, const Decoded& got);

}  // namespace parity
