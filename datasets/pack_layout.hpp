// What the writer and the reader of packs share: names, element types and text attributes
// (datasets/SCHEMA.md). Private to the pack's sources.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/hdf5_handle.hpp"
#include "datasets/pack.hpp"

namespace parity::pack_layout {

inline constexpr char kIds[] = "ids";
inline constexpr char kCases[] = "cases";
inline constexpr char kInputs[] = "inputs";
inline constexpr char kOutputs[] = "outputs";
inline constexpr char kExpected[] = "expected";
inline constexpr char kBound[] = "bound";

namespace attribute {
inline constexpr char kSchema[] = "schema";
inline constexpr char kBuild[] = "build";
inline constexpr char kReference[] = "reference";
inline constexpr char kGenerator[] = "generator";
inline constexpr char kId[] = "id";
inline constexpr char kOperation[] = "operation";
inline constexpr char kRecipe[] = "recipe";
inline constexpr char kSeed[] = "seed";
inline constexpr char kType[] = "type";
inline constexpr char kDigest[] = "digest";
inline constexpr char kStream[] = "stream";
inline constexpr char kRule[] = "rule";
}  // namespace attribute

/// "cases/000012"
std::string case_path(std::size_t index);

std::optional<OutputRule> parse_rule(std::string_view text);

/// Inverse of TensorType::to_string(); nothing for any other text.
std::optional<TensorType> parse_type(std::string_view text);

/// The HDF5 type with the very bits of `dtype`, in files and in memory: no conversion ever runs.
hdf5::Type element_type(Dtype dtype, const hdf5::Failures& failures);

/// A string type of exactly `size` bytes (at least one), padded with zeros.
hdf5::Type text_type(std::size_t size, const hdf5::Failures& failures);

void write_text(hid_t object, const char* name, std::string_view text,
                const hdf5::Failures& failures);
std::string read_text(hid_t object, const char* name, const hdf5::Failures& failures);

void write_u64(hid_t object, const char* name, std::uint64_t value, const hdf5::Failures& failures);
std::uint64_t read_u64(hid_t object, const char* name, const hdf5::Failures& failures);

/// A file access list for files of format 1.10, without locks.
hdf5::Properties file_access(const hdf5::Failures& failures);

}  // namespace parity::pack_layout
