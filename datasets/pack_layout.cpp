// Element types and attributes of packs.
#include "datasets/pack_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "datasets/errors.hpp"

namespace parity {

std::string_view rule_name(OutputRule rule) {
  switch (rule) {
    case OutputRule::rows:
      return "rows";
    case OutputRule::log_sum_exp:
      return "log_sum_exp";
    case OutputRule::exact:
      break;
  }
  return "exact";
}

}  // namespace parity

namespace parity::pack_layout {
namespace {

/// A float of one sign bit, `exponent` and `mantissa` bits in this order from the top, IEEE-like.
hdf5::Type small_float(std::size_t exponent, std::size_t mantissa, std::size_t bias,
                       const hdf5::Failures& failures) {
  hdf5::Type type(failures.check(H5Tcopy(H5T_IEEE_F32LE), "copying a type"));
  const std::size_t bits = 1 + exponent + mantissa;
  failures.check(H5Tset_fields(type.get(), bits - 1, mantissa, exponent, 0, mantissa),
                 "making a float type");
  failures.check(H5Tset_size(type.get(), bits / 8), "making a float type");
  failures.check(H5Tset_ebias(type.get(), bias), "making a float type");
  return type;
}

hdf5::Type copy_of(hid_t type, const hdf5::Failures& failures) {
  return hdf5::Type(failures.check(H5Tcopy(type), "copying a type"));
}

hdf5::Attribute open_attribute(hid_t object, const char* name, const hdf5::Failures& failures) {
  if (H5Aexists(object, name) <= 0) failures.raise(fmt::format("it has no attribute '{}'", name));
  return hdf5::Attribute(failures.check(H5Aopen(object, name, H5P_DEFAULT), name));
}

/// Memory of one element is provided by the caller, so an attribute must hold exactly one.
void require_one_element(const hdf5::Attribute& attribute, const char* name,
                         const hdf5::Failures& failures) {
  const hdf5::Space space(failures.check(H5Aget_space(attribute.get()), name));
  if (H5Sget_simple_extent_npoints(space.get()) != 1)
    failures.raise(fmt::format("attribute '{}' is not one value", name));
}

void write_scalar(hid_t object, const char* name, const hdf5::Type& type, const void* value,
                  const hdf5::Failures& failures) {
  const hdf5::Space space(failures.check(H5Screate(H5S_SCALAR), name));
  const hdf5::Attribute attribute(failures.check(
      H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), name));
  failures.check(H5Awrite(attribute.get(), type.get(), value), name);
}

}  // namespace

std::string case_path(std::size_t index) {
  return fmt::format("{}/{:06}", kCases, index);
}

std::optional<OutputRule> parse_rule(std::string_view text) {
  for (const OutputRule rule : {OutputRule::rows, OutputRule::log_sum_exp, OutputRule::exact})
    if (rule_name(rule) == text) return rule;
  return std::nullopt;
}

std::optional<TensorType> parse_type(std::string_view text) {
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos || text.back() != ']') return std::nullopt;
  TensorType type;
  try {
    type.dtype = parse_dtype(text.substr(0, bracket));
    std::string_view extents = text.substr(bracket + 1, text.size() - bracket - 2);
    while (!extents.empty()) {
      std::int64_t extent = 0;
      const char* end = extents.data() + extents.size();
      const char* stop = std::from_chars(extents.data(), end, extent).ptr;
      type.shape.push_back(extent);
      extents.remove_prefix(std::min<std::size_t>(stop - extents.data() + 1, extents.size()));
    }
    type.elements();
  } catch (const UsageError&) {
    return std::nullopt;
  }
  // Whatever the loop let through is not spelled as to_string() spells it.
  return type.to_string() == text ? std::optional(type) : std::nullopt;
}

hdf5::Type element_type(Dtype dtype, const hdf5::Failures& failures) {
  switch (dtype) {
    case Dtype::f64:
      return copy_of(H5T_IEEE_F64LE, failures);
    case Dtype::f32:
      return copy_of(H5T_IEEE_F32LE, failures);
    case Dtype::f16:
      return small_float(5, 10, 15, failures);
    case Dtype::bf16:
      return small_float(8, 7, 127, failures);
    case Dtype::e4m3:
      return small_float(4, 3, 7, failures);
    case Dtype::e5m2:
      return small_float(5, 2, 15, failures);
    case Dtype::i32:
      return copy_of(H5T_STD_I32LE, failures);
    case Dtype::i64:
      return copy_of(H5T_STD_I64LE, failures);
    case Dtype::u8:
      return copy_of(H5T_STD_U8LE, failures);
    case Dtype::u64:
      return copy_of(H5T_STD_U64LE, failures);
  }
  failures.raise(fmt::format("dtype number {} is unknown", static_cast<int>(dtype)));
}

hdf5::Type text_type(std::size_t size, const hdf5::Failures& failures) {
  hdf5::Type type = copy_of(H5T_C_S1, failures);
  failures.check(H5Tset_size(type.get(), std::max<std::size_t>(size, 1)), "making a text type");
  failures.check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "making a text type");
  failures.check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "making a text type");
  return type;
}

void write_text(hid_t object, const char* name, std::string_view text,
                const hdf5::Failures& failures) {
  const std::string value(text);  // c_str() holds the one zero byte of an empty text
  write_scalar(object, name, text_type(value.size(), failures), value.c_str(), failures);
}

std::string read_text(hid_t object, const char* name, const hdf5::Failures& failures) {
  const hdf5::Attribute attribute = open_attribute(object, name, failures);
  require_one_element(attribute, name, failures);
  const hdf5::Type type(failures.check(H5Aget_type(attribute.get()), name));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0)
    failures.raise(fmt::format("attribute '{}' is not a text of fixed length", name));
  std::string value(H5Tget_size(type.get()), '\0');
  failures.check(H5Aread(attribute.get(), type.get(), value.data()), name);
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

void write_u64(hid_t object, const char* name, std::uint64_t value,
               const hdf5::Failures& failures) {
  write_scalar(object, name, element_type(Dtype::u64, failures), &value, failures);
}

std::uint64_t read_u64(hid_t object, const char* name, const hdf5::Failures& failures) {
  const hdf5::Attribute attribute = open_attribute(object, name, failures);
  require_one_element(attribute, name, failures);
  const hdf5::Type wanted = element_type(Dtype::u64, failures);
  const hdf5::Type found(failures.check(H5Aget_type(attribute.get()), name));
  if (H5Tequal(found.get(), wanted.get()) <= 0)
    failures.raise(fmt::format("attribute '{}' is not a u64", name));
  std::uint64_t value = 0;
  failures.check(H5Aread(attribute.get(), wanted.get(), &value), name);
  return value;
}

hdf5::Properties file_access(const hdf5::Failures& failures) {
  hdf5::Properties access(failures.check(H5Pcreate(H5P_FILE_ACCESS), "file access"));
  failures.check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "file access");
  failures.check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110),
                 "file access");
  // A lock would refuse even a reader where another process holds the file.
  failures.check(H5Pset_file_locking(access.get(), false, true), "file access");
  return access;
}

}  // namespace parity::pack_layout
