// Reads packs and trusts nothing: schema, names, types, shapes and digests are checked.
#include "datasets/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <system_error>

#include "datasets/errors.hpp"
#include "datasets/hdf5_handle.hpp"
#include "datasets/pack_layout.hpp"
#include "datasets/pack_seal.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using namespace pack_layout;

hdf5::Group open_group(hid_t parent, const std::string& name, const hdf5::Failures& failures) {
  return hdf5::Group(failures.check(H5Gopen2(parent, name.c_str(), H5P_DEFAULT), name));
}

/// Names of a group's members in the order they were made.
std::vector<std::string> members(const hdf5::Group& group, const hdf5::Failures& failures) {
  H5G_info_t info{};
  failures.check(H5Gget_info(group.get(), &info), "listing a group");
  std::vector<std::string> names;
  for (hsize_t i = 0; i < info.nlinks; ++i) {
    const auto name_of = [&](char* buffer, std::size_t size) {
      return failures.check(H5Lget_name_by_idx(group.get(), ".", H5_INDEX_CRT_ORDER, H5_ITER_INC, i,
                                               buffer, size, H5P_DEFAULT),
                            "listing a group");
    };
    std::string name(static_cast<std::size_t>(name_of(nullptr, 0)), '\0');
    name_of(name.data(), name.size() + 1);
    names.push_back(std::move(name));
  }
  return names;
}

TensorType read_type(hid_t object, const hdf5::Failures& failures) {
  const std::string text = read_text(object, attribute::kType, failures);
  std::optional<TensorType> type = parse_type(text);
  if (!type) failures.raise(fmt::format("'{}' is not a tensor type such as 'f16[3,8]'", text));
  return *std::move(type);
}

/// A digest that is not one is damage of this file, so its message must name the file.
Digest read_digest(hid_t object, const hdf5::Failures& failures) {
  const std::string text = read_text(object, attribute::kDigest, failures);
  try {
    return Digest::parse(text);
  } catch (const DatasetError& error) {
    failures.raise(error.what());
  }
}

bool has_shape(const hdf5::Space& space, const Shape& shape) {
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank != static_cast<int>(shape.size())) return false;
  std::vector<hsize_t> extents(shape.size());
  if (H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) != rank) return false;
  return std::equal(shape.begin(), shape.end(), extents.begin(),
                    [](std::int64_t a, hsize_t b) { return static_cast<hsize_t>(a) == b; });
}

struct StoredTensor {
  TensorType type;
  Digest digest;
  std::optional<Tensor> data;
};

StoredTensor read_tensor(hid_t parent, const std::string& name, const hdf5::Failures& failures) {
  const hdf5::Dataset dataset(failures.check(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), name));
  StoredTensor result{read_type(dataset.get(), failures), read_digest(dataset.get(), failures), {}};
  const hdf5::Type wanted = element_type(result.type.dtype, failures);
  const hdf5::Type found(failures.check(H5Dget_type(dataset.get()), name));
  if (H5Tequal(found.get(), wanted.get()) <= 0)
    failures.raise(fmt::format("'{}' is not stored as {}", name, result.type.to_string()));
  const hdf5::Space space(failures.check(H5Dget_space(dataset.get()), name));
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) return result;
  if (!has_shape(space, result.type.shape))
    failures.raise(fmt::format("'{}' has not the shape of {}", name, result.type.to_string()));

  // What deflate can save is limited: a file must not ask for more memory than it can have filled.
  constexpr std::uint64_t kMostSaved = 1100;
  const std::uint64_t stored = H5Dget_storage_size(dataset.get());
  if (result.type.bytes() / kMostSaved > stored)
    failures.raise(
        fmt::format("'{}' is damaged: {} bytes hold no {}", name, stored, result.type.to_string()));
  Tensor& tensor = result.data.emplace(result.type);
  if (!tensor.bytes().empty())
    failures.check(
        H5Dread(dataset.get(), wanted.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.bytes().data()),
        name);
  if (const Digest actual = digest(tensor); actual != result.digest)
    failures.raise(fmt::format("'{}' is damaged: its digest is {}, {} was written", name,
                               actual.hex(), result.digest.hex()));
  return result;
}

PackOutput read_output(hid_t parent, const std::string& name, const hdf5::Failures& failures) {
  const hdf5::Group group = open_group(parent, name, failures);
  PackOutput output;
  output.name = name;
  output.type = read_type(group.get(), failures);
  const std::string rule = read_text(group.get(), attribute::kRule, failures);
  if (const auto known = parse_rule(rule))
    output.rule = *known;
  else
    failures.raise(fmt::format("'{}' is not a rule for outputs", rule));
  const TensorType wanted{Dtype::f64, output.type.shape};
  for (const auto& [part, target] :
       {std::pair{kExpected, &output.expected}, std::pair{kBound, &output.bound}}) {
    if (failures.check(H5Lexists(group.get(), part, H5P_DEFAULT), part) == 0) continue;
    *target = read_tensor(group.get(), part, failures).data;
    if (!*target || (*target)->type() != wanted)
      failures.raise(fmt::format("'{}' of output '{}' is not {}", part, name, wanted.to_string()));
  }
  return output;
}

std::vector<std::string> read_ids(hid_t file, const hdf5::Failures& failures) {
  const hdf5::Dataset dataset(failures.check(H5Dopen2(file, kIds, H5P_DEFAULT), kIds));
  const hdf5::Type type(failures.check(H5Dget_type(dataset.get()), kIds));
  const hdf5::Space space(failures.check(H5Dget_space(dataset.get()), kIds));
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0 ||
      H5Sget_simple_extent_ndims(space.get()) != 1)
    failures.raise("'ids' is not a list of texts of fixed length");
  const std::size_t width = H5Tget_size(type.get());
  const auto count =
      static_cast<std::size_t>(failures.check(H5Sget_simple_extent_npoints(space.get()), kIds));
  std::string table(width * count, '\0');
  if (count > 0)
    failures.check(H5Dread(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, table.data()),
                   kIds);
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view padded(table.data() + i * width, width);
    ids.emplace_back(padded.substr(0, padded.find('\0')));
  }
  return ids;
}

hdf5::File open_file(const hdf5::Failures& failures) {
  hdf5::silence();
  const hdf5::Properties access = file_access(failures);
  return hdf5::File(failures.check(H5Fopen(failures.file().c_str(), H5F_ACC_RDONLY, access.get()),
                                   "not sound HDF5"));
}

}  // namespace

struct PackReader::Impl {
  Impl(fs::path path, std::string what_to_do)
      : advice(std::move(what_to_do)),
        failures(std::move(path), "read", advice),
        sealed(pack_seal::check(failures)),
        file(open_file(failures)) {
    const std::string schema = read_text(file.get(), attribute::kSchema, failures);
    if (schema != kPackSchema)
      failures.raise(
          fmt::format("its schema is '{}', this program reads '{}'", schema, kPackSchema));
    provenance.build = read_text(file.get(), attribute::kBuild, failures);
    provenance.reference = read_text(file.get(), attribute::kReference, failures);
    ids = read_ids(file.get(), failures);
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!index_of.emplace(ids[i], i).second)
        failures.raise(fmt::format("it holds case '{}' twice", ids[i]));
  }

  std::string advice;
  hdf5::Failures failures;
  pack_seal::Sealed sealed;
  hdf5::File file;
  Provenance provenance;
  std::vector<std::string> ids;
  std::map<std::string, std::size_t, std::less<>> index_of;
};

PackReader::PackReader(std::filesystem::path path, std::string advice)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(advice))) {}
PackReader::~PackReader() = default;
PackReader::PackReader(PackReader&&) noexcept = default;
PackReader& PackReader::operator=(PackReader&&) noexcept = default;

const std::vector<std::string>& PackReader::ids() const {
  return impl_->ids;
}

Provenance PackReader::provenance() const {
  return impl_->provenance;
}

Digest PackReader::seal() const {
  return impl_->sealed.digest;
}

std::uint64_t PackReader::bytes() const {
  return impl_->sealed.bytes;
}

PackCase PackReader::read(std::string_view id) const {
  const fs::path& path = impl_->failures.file();
  const auto found = impl_->index_of.find(id);
  if (found == impl_->index_of.end())
    throw UsageError(fmt::format("pack '{}' holds no case '{}': it holds {} others", path.string(),
                                 id, impl_->ids.size()));
  const hdf5::Failures failures(path, fmt::format("read: case '{}'", id), impl_->advice);
  const hdf5::Group group = open_group(impl_->file.get(), case_path(found->second), failures);
  PackCase result;
  result.id = read_text(group.get(), attribute::kId, failures);
  if (result.id != id)
    failures.raise(fmt::format("case '{}' was found where '{}' should be", result.id, id));
  result.operation = read_text(group.get(), attribute::kOperation, failures);
  result.recipe = read_text(group.get(), attribute::kRecipe, failures);
  result.seed = read_u64(group.get(), attribute::kSeed, failures);
  result.reference = read_text(group.get(), attribute::kReference, failures);

  const hdf5::Group inputs = open_group(group.get(), kInputs, failures);
  for (const std::string& name : members(inputs, failures)) {
    StoredTensor stored = read_tensor(inputs.get(), name, failures);
    result.inputs.push_back({name, std::move(stored.type), stored.digest, std::move(stored.data)});
  }
  const hdf5::Group outputs = open_group(group.get(), kOutputs, failures);
  for (const std::string& name : members(outputs, failures))
    result.outputs.push_back(read_output(outputs.get(), name, failures));
  return result;
}

}  // namespace parity
