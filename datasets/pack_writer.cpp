// Writes packs. HDF5 builds the file in memory; its bytes then go to disk in one plain write, so
// that a full disk is one error here and never a half-written file that HDF5 insists on closing.
#include "datasets/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <system_error>

#include "datasets/errors.hpp"
#include "datasets/file_image.hpp"
#include "datasets/fill.hpp"
#include "datasets/hdf5_handle.hpp"
#include "datasets/pack_layout.hpp"
#include "datasets/replaced_file.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;
using namespace pack_layout;

/// Tensors up to this size lie in their object's header, beyond it in compressed, checksummed
/// chunks.
constexpr std::size_t kCompactBytes = 1024;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr unsigned kDeflateLevel = 1;

/// Time stamps would make the same data other bytes each run.
hdf5::Properties creation(hid_t kind, const hdf5::Failures& failures) {
  hdf5::Properties list(failures.check(H5Pcreate(kind), "creation properties"));
  failures.check(H5Pset_obj_track_times(list.get(), false), "creation properties");
  return list;
}

/// Groups list their members in the order they were made.
hdf5::Properties group_creation(hid_t kind, const hdf5::Failures& failures) {
  hdf5::Properties list = creation(kind, failures);
  failures.check(
      H5Pset_link_creation_order(list.get(), H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
      "creation properties");
  return list;
}

hdf5::Group make_group(hid_t parent, const std::string& name, const hdf5::Failures& failures) {
  const hdf5::Properties list = group_creation(H5P_GROUP_CREATE, failures);
  return hdf5::Group(
      failures.check(H5Gcreate2(parent, name.c_str(), H5P_DEFAULT, list.get(), H5P_DEFAULT), name));
}

hdf5::Space space_of(const Shape& shape, const hdf5::Failures& failures) {
  if (shape.empty()) return hdf5::Space(failures.check(H5Screate(H5S_SCALAR), "shape"));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return hdf5::Space(failures.check(
      H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), "shape"));
}

/// The leading axes are cut until a chunk fits: chunks are runs of whole inner slices.
std::vector<hsize_t> chunk_of(const Shape& shape, std::size_t element_bytes) {
  std::vector<hsize_t> chunk(shape.begin(), shape.end());
  std::size_t bytes = element_bytes;
  for (const hsize_t extent : chunk) bytes *= extent;
  for (hsize_t& extent : chunk) {
    if (bytes <= kChunkBytes) break;
    const std::size_t slice = bytes / extent;
    extent = std::max<hsize_t>(1, kChunkBytes / slice);
    bytes = slice * extent;
  }
  return chunk;
}

void set_checksummed_chunks(hid_t list, const Shape& shape, std::size_t element_bytes,
                            const hdf5::Failures& failures) {
  const std::vector<hsize_t> chunk = chunk_of(shape, element_bytes);
  failures.check(H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data()), "chunks");
  failures.check(H5Pset_shuffle(list), "shuffle filter");
  failures.check(H5Pset_deflate(list, kDeflateLevel), "deflate filter");
  failures.check(H5Pset_fletcher32(list), "checksum filter");
}

/// A data set with its type and digest; without elements where `data` is null.
hdf5::Dataset write_tensor(hid_t parent, const std::string& name, const TensorType& type,
                           const Digest& digest, const Tensor* data,
                           const hdf5::Failures& failures) {
  const hdf5::Properties list = creation(H5P_DATASET_CREATE, failures);
  const std::size_t bytes = type.bytes();
  if (data != nullptr && bytes > kCompactBytes)
    set_checksummed_chunks(list.get(), type.shape, size_of(type.dtype), failures);
  else if (data != nullptr && bytes > 0)
    failures.check(H5Pset_layout(list.get(), H5D_COMPACT), "layout");
  const hdf5::Space space = data != nullptr
                                ? space_of(type.shape, failures)
                                : hdf5::Space(failures.check(H5Screate(H5S_NULL), "shape"));
  const hdf5::Type element = element_type(type.dtype, failures);
  hdf5::Dataset dataset(failures.check(H5Dcreate2(parent, name.c_str(), element.get(), space.get(),
                                                  H5P_DEFAULT, list.get(), H5P_DEFAULT),
                                       name));
  if (data != nullptr && bytes > 0)
    failures.check(
        H5Dwrite(dataset.get(), element.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data->bytes().data()),
        name);
  write_text(dataset.get(), attribute::kType, type.to_string(), failures);
  write_text(dataset.get(), attribute::kDigest, digest.hex(), failures);
  return dataset;
}

void require(bool holds, const PackCase& pack_case, std::string_view what) {
  if (!holds)
    throw UsageError(
        fmt::format("case '{}' cannot be packed: {}; correct the call", pack_case.id, what));
}

void validate(const PackCase& pack_case) {
  const auto good_name = [](const std::string& name) {
    return !name.empty() && name != "." && name.find('/') == std::string::npos;
  };
  for (const PackInput& input : pack_case.inputs) {
    require(good_name(input.name), pack_case, "input '" + input.name + "' is not a plain name");
    require(
        !input.data || (input.data->type() == input.type && digest(*input.data) == input.digest),
        pack_case, "input '" + input.name + "' is not of its stated type and digest");
  }
  for (const PackOutput& output : pack_case.outputs) {
    require(good_name(output.name), pack_case, "output '" + output.name + "' is not a plain name");
    const TensorType wanted{Dtype::f64, output.type.shape};
    for (const auto* tensor : {&output.expected, &output.bound})
      require(!*tensor || (*tensor)->type() == wanted, pack_case,
              "expected or bound of output '" + output.name + "' is not " + wanted.to_string());
  }
}

}  // namespace

struct PackWriter::Impl {
  explicit Impl(fs::path path)
      : target(std::move(path)),
        failures(target, "written",
                 "make room or choose another folder (an older file is intact)") {
    or_raise([this] { output.emplace(target); });
  }

  template <class Step>
  void or_raise(const Step& step) const {
    try {
      step();
    } catch (const std::system_error& error) {
      failures.raise(error.what());
    }
  }

  void write_ids() {
    std::size_t longest = 1;
    for (const std::string& id : ids) longest = std::max(longest, id.size());
    std::string table(longest * ids.size(), '\0');
    for (std::size_t i = 0; i < ids.size(); ++i)
      std::copy(ids[i].begin(), ids[i].end(), table.begin() + static_cast<long>(i * longest));

    const Shape shape = {static_cast<std::int64_t>(ids.size())};
    const hdf5::Properties list = creation(H5P_DATASET_CREATE, failures);
    if (!ids.empty()) set_checksummed_chunks(list.get(), shape, longest, failures);
    const hdf5::Space space = space_of(shape, failures);
    const hdf5::Type text = text_type(longest, failures);
    const hdf5::Dataset dataset(failures.check(
        H5Dcreate2(file.get(), kIds, text.get(), space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT),
        kIds));
    if (!ids.empty())
      failures.check(
          H5Dwrite(dataset.get(), text.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, table.data()), kIds);
  }

  void close_file() {
    cases.reset();
    failures.check(H5Fclose(file.release()), "closing");
  }

  void write_out(std::span<const std::byte> bytes) {
    or_raise([&] {
      output->write(bytes);
      output->sync();
      output->commit();
    });
    try {
      output->sync_folder();
    } catch (const std::system_error& error) {
      hdf5::Failures(target, "kept", "it has been written, but a power loss may take it; run again")
          .raise(error.what());
    }
  }

  fs::path target;
  hdf5::Failures failures;
  std::optional<ReplacedFile> output;
  hdf5::FileImage image;
  hdf5::File file;
  hdf5::Group cases;
  std::vector<std::string> ids;
  std::set<std::string> known_ids;
};

PackWriter::PackWriter(std::filesystem::path path, const Provenance& provenance)
    : impl_(std::make_unique<Impl>(std::move(path))) {
  hdf5::silence();
  const hdf5::Failures& failures = impl_->failures;
  const hdf5::Properties access = file_access(failures);
  impl_->image.attach(access.get(), failures);
  const hdf5::Properties list = group_creation(H5P_FILE_CREATE, failures);
  impl_->file = hdf5::File(failures.check(
      H5Fcreate(impl_->output->temporary().c_str(), H5F_ACC_TRUNC, list.get(), access.get()),
      "creating it"));
  const hid_t file = impl_->file.get();
  write_text(file, attribute::kSchema, kSchemaVersion, failures);
  write_text(file, attribute::kBuild, provenance.build, failures);
  write_text(file, attribute::kReference, provenance.reference, failures);
  write_text(file, attribute::kGenerator, "parity", failures);
  impl_->cases = make_group(file, kCases, failures);
}

PackWriter::~PackWriter() = default;

void PackWriter::add(const PackCase& pack_case) {
  const hdf5::Failures& failures = impl_->failures;
  require(impl_->file.get() >= 0, pack_case, "the pack has been committed");
  validate(pack_case);
  require(impl_->known_ids.insert(pack_case.id).second, pack_case, "its id was added before");

  const hdf5::Group group = make_group(impl_->file.get(), case_path(impl_->ids.size()), failures);
  impl_->ids.push_back(pack_case.id);
  write_text(group.get(), attribute::kId, pack_case.id, failures);
  write_text(group.get(), attribute::kOperation, pack_case.operation, failures);
  write_text(group.get(), attribute::kRecipe, pack_case.recipe, failures);
  write_u64(group.get(), attribute::kSeed, pack_case.seed, failures);

  const hdf5::Group inputs = make_group(group.get(), kInputs, failures);
  for (const PackInput& input : pack_case.inputs) {
    const bool whole = input.data && input.type.bytes() <= kStoreWholeBytes;
    const hdf5::Dataset dataset = write_tensor(inputs.get(), input.name, input.type, input.digest,
                                               whole ? &*input.data : nullptr, failures);
    write_u64(dataset.get(), attribute::kStream, stream_of(input.name), failures);
  }
  const hdf5::Group outputs = make_group(group.get(), kOutputs, failures);
  for (const PackOutput& output : pack_case.outputs) {
    const hdf5::Group one = make_group(outputs.get(), output.name, failures);
    write_text(one.get(), attribute::kType, output.type.to_string(), failures);
    write_text(one.get(), attribute::kRule, rule_name(output.rule), failures);
    for (const auto& [name, tensor] :
         {std::pair{kExpected, &output.expected}, std::pair{kBound, &output.bound}})
      if (*tensor)
        write_tensor(one.get(), name, (*tensor)->type(), digest(**tensor), &**tensor, failures);
  }
}

void PackWriter::commit() {
  if (impl_->file.get() < 0)
    throw UsageError(fmt::format("pack '{}' has been committed already", impl_->target.string()));
  impl_->write_ids();
  impl_->close_file();
  impl_->write_out(impl_->image.bytes(impl_->failures));
}

}  // namespace parity
