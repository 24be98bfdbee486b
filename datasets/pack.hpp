// The case pack: golden data in HDF5 (layout: datasets/SCHEMA.md). A pack with `expected` is golden
// data; the same schema without it is what a worker is handed. All packs of a process are used from
// one thread at a time: HDF5 need not be thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/tensor.hpp"

namespace parity {

/// The one layout that this program writes and reads.
inline constexpr char kPackSchema[] = "parity.pack/2";

/// Inputs above this many bytes are stored as recipe and digest only.
inline constexpr std::size_t kStoreWholeBytes = std::size_t{1} << 20;

struct PackInput {
  std::string name;
  TensorType type;
  Digest digest;               ///< of the tensor, whether stored or not
  std::optional<Tensor> data;  ///< absent when the pack holds only the recipe
};

/// How an output is judged (harness/judge.hpp).
enum class OutputRule : std::uint8_t {
  rows,         ///< row error over the last axis, and a bound per element
  log_sum_exp,  ///< |diff| <= 1e-5 + 2^-22·|want|
  exact,        ///< equal, element by element (tokens, flags, counts)
};
/// As packs have it: "rows".
std::string_view rule_name(OutputRule rule);

struct PackOutput {
  std::string name;
  TensorType type;  ///< what the kernel writes
  OutputRule rule = OutputRule::rows;
  /// f64 of type.shape. NaN: see `bound`. Absent in a worker's pack.
  std::optional<Tensor> expected;
  /// f64 of type.shape: allowed |got − want| per element beyond half the output's spacing. Where
  /// expected is NaN, bound = inf means "any non-finite value", otherwise "a NaN". Rule exact: the
  /// other right value (expected itself where there is none), or NaN where the element is not
  /// compared. Absent like expected.
  std::optional<Tensor> bound;
};

struct PackCase {
  std::string id;
  std::string operation;
  std::string recipe;
  std::uint64_t seed = 0;
  std::vector<PackInput> inputs;
  std::vector<PackOutput> outputs;
  std::string reference = {};  ///< version of the reference implementations that `expected` is of
};

/// Who made the pack; strings that are the same for the same build.
struct Provenance {
  std::string build;      ///< digest of the program
  std::string reference;  ///< version of the reference implementations
};

class PackWriter {
 public:
  /// Starts a ReplacedFile. The pack grows in memory until commit(). Throws DatasetError when the
  /// folder cannot be written.
  PackWriter(std::filesystem::path path, const Provenance& provenance);
  /// Removes the temporary file unless committed.
  ~PackWriter();
  PackWriter(const PackWriter&) = delete;
  PackWriter& operator=(const PackWriter&) = delete;

  /// Appends a case in pack order. Inputs beyond kStoreWholeBytes are stored without their data.
  /// Throws UsageError for an id added before, a name with '/', or data that is not of its stated
  /// type or digest.
  void add(const PackCase& pack_case);
  /// Flushes, fsyncs and renames over `path`. Throws DatasetError (disk full, ...): the old file
  /// survives.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class PackReader {
 public:
  /// Opens read-only, also where another process holds a lock, and reads every byte once. Throws
  /// DatasetError naming the file, what is wrong with it (missing, foreign, another schema version,
  /// truncated, other bytes than were written) and `advice`.
  explicit PackReader(std::filesystem::path path,
                      std::string advice = "remove it so that it is written again");
  ~PackReader();
  PackReader(PackReader&&) noexcept;
  PackReader& operator=(PackReader&&) noexcept;

  /// In pack order.
  const std::vector<std::string>& ids() const;
  Provenance provenance() const;
  /// Of all bytes behind the user block, which holds it.
  Digest seal() const;
  /// Of the whole file.
  std::uint64_t bytes() const;
  /// Throws UsageError for an unknown id, DatasetError naming the case for damage (each stored
  /// tensor's digest is checked).
  PackCase read(std::string_view id) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace parity
