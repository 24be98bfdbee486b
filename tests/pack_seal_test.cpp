// The user block of packs: no file that differs from what was written is taken for it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>

#include "tests/pack_fixture.hpp"

namespace parity {
namespace {

/// The smallest pack that has a whole, a chunked and an unstored tensor.
PackCase small_case() {
  PackCase result{"k/x=f16/n=1/plain", "op", "plain", 42, {}, {}};
  result.reference = "1";
  result.inputs.push_back(normal_input("x", Dtype::f16, {2, 3}));
  result.inputs.push_back(normal_input("beyond", Dtype::f32, {4}));
  result.inputs.back().data.reset();
  PackOutput out{"out", {Dtype::f16, {5, 30}}, OutputRule::rows, {}, {}};
  out.expected = ramp(Dtype::f64, {5, 30});
  out.bound = ramp(Dtype::f64, {5, 30});
  result.outputs.push_back(out);
  return result;
}

/// What reading all of it says; empty where nothing is wrong.
std::string refusal(const fs::path& path) {
  try {
    const PackReader reader(path);
    for (const std::string& id : reader.ids()) reader.read(id);
  } catch (const DatasetError& error) {
    return error.what();
  }
  return "";
}

/// Root may do everything.
void give_up_root() {
  constexpr uid_t kNobody = 65534;
  EXPECT_TRUE(::geteuid() != 0 || ::setuid(kNobody) == 0);
}

class PackSealTest : public PackTest {
 protected:
  PackSealTest() { write_pack(path_, {small_case()}); }
};

TEST_F(PackSealTest, TheBlockSaysSchemaDigestAndLength) {
  const std::string whole = bytes_of(path_);
  EXPECT_EQ(whole, resealed(whole));
  EXPECT_EQ(whole.substr(0, 23), "parity.pack/2\nxxh3-128 ");
  const PackReader reader(path_);
  EXPECT_EQ(reader.seal(), digest(std::string_view(whole).substr(512)));
  EXPECT_EQ(reader.bytes(), whole.size());
}

TEST_F(PackSealTest, AnyFlippedBitIsRefusedInOneLine) {
  const std::string whole = bytes_of(path_);
  const int file = ::open(path_.c_str(), O_WRONLY);
  ASSERT_GE(file, 0);
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    const auto at = static_cast<off_t>(bit / 8);
    const char flipped = static_cast<char>(whole[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_EQ(::pwrite(file, &flipped, 1, at), 1);
    const std::string message = refusal(path_);
    if (message.empty() || message.find('\n') != std::string::npos) {
      ++accepted;
      ADD_FAILURE() << "bit " << bit << ": '" << message << "'";
    }
    ASSERT_EQ(::pwrite(file, &whole[bit / 8], 1, at), 1);
    if (accepted > 3) break;
  }
  ::close(file);
  EXPECT_EQ(refusal(path_), "") << "every bit is as it was";
}

TEST_F(PackSealTest, AFileOfAnyOtherLengthIsRefusedInOneLine) {
  const std::string whole = bytes_of(path_);
  for (std::size_t size = whole.size(); size-- > 0;) {
    ASSERT_EQ(::truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    expect_one_line_naming(refusal(path_), size == 0 ? "it is empty" : "cannot be read");
    if (size >= 512) expect_one_line_naming(refusal(path_), "it is cut short");
  }
  for (const std::string& more : {std::string(1, '\0'), std::string("x"), whole}) {
    write_bytes(path_, whole + more);
    expect_one_line_naming(refusal(path_), "it is damaged");
  }
}

/// A program that writes in place and dies leaves zeros where it had not been.
TEST_F(PackSealTest, AHalfWrittenFileIsRefused) {
  const std::string whole = bytes_of(path_);
  for (const std::size_t written : {std::size_t{512}, whole.size() / 2, whole.size() - 8}) {
    write_bytes(path_, whole.substr(0, written) + std::string(whole.size() - written, '\0'));
    expect_one_line_naming(refusal(path_), "it is damaged");
  }
}

TEST_F(PackSealTest, OlderNewerAndForeignFilesAreToldApart) {
  const std::string whole = bytes_of(path_);
  write_bytes(path_, "parity.pack/3" + whole.substr(13));
  expect_one_line_naming(refusal(path_), "its schema is 'parity.pack/3'");
  write_bytes(path_, whole.substr(512));
  expect_one_line_naming(refusal(path_), "HDF5 without the user block");
  H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  expect_one_line_naming(refusal(path_), "HDF5 without the user block");
  write_bytes(path_, "parity.pack/\x1b[31m\nred");
  expect_one_line_naming(refusal(path_), "'parity.pack/?[31m'");
  write_bytes(path_, std::string(4096, '\xff'));
  expect_one_line_naming(refusal(path_), "it is no pack");
}

/// Whose block is right, but which is not ours.
TEST_F(PackSealTest, AForeignHdf5FileBehindARightBlockIsRefused) {
  const hid_t list = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(list, 512);
  H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, list, H5P_DEFAULT));
  H5Pclose(list);
  reseal(path_);
  expect_one_line_naming(refusal(path_), "no attribute 'schema'");
  write_bytes(path_, resealed(std::string(2048, 'x')));
  expect_one_line_naming(refusal(path_), "not sound HDF5");
}

/// A type of terabytes on a data set that holds nothing.
TEST_F(PackSealTest, ATensorThatCannotBeThereAsksForNoMemory) {
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t outputs = H5Gopen2(file, "cases/000000/outputs/out", H5P_DEFAULT);
  ASSERT_GE(H5Ldelete(outputs, "expected", H5P_DEFAULT), 0);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t extents[] = {hsize_t{1} << 20, hsize_t{1} << 21};
  const hsize_t chunk[] = {1, 1024};
  H5Pset_chunk(list, 2, chunk);
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t huge =
      H5Dcreate2(outputs, "expected", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const auto put = [&](const char* name, const std::string& text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size());
    const hid_t attribute = H5Acreate2(huge, name, type, scalar, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_GE(H5Awrite(attribute, type, text.data()), 0);
    H5Aclose(attribute);
    H5Tclose(type);
  };
  put("type", "f64[1048576,2097152]");
  put("digest", std::string(32, '0'));
  for (const hid_t id : {huge, list, space, scalar, outputs}) H5Idec_ref(id);
  H5Fclose(file);
  reseal(path_);
  expect_one_line_naming(refusal(path_), "'expected' is damaged: 0 bytes hold no f64[");
}

/// Opening one for reading would wait for a writer.
TEST_F(PackSealTest, APipeIsRefusedAtOnce) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_one_line_naming(refusal(pipe), "not a regular file");
}

TEST_F(PackSealTest, ReadOnlyFilesAreReadAndReadOnlyFoldersSaySo) {
  fs::permissions(path_, fs::perms(0444));
  fs::permissions(folder_, fs::perms(0555));
  const int status = in_child([&] {
    give_up_root();
    EXPECT_EQ(refusal(path_), "");
    const std::string message = dataset_error([&] { write_pack(path_, {small_case()}); });
    expect_one_line_naming(message, "Permission denied");
  });
  EXPECT_EQ(status, 0);
  fs::permissions(path_, fs::perms(0000));
  const int secret = in_child([&] {
    give_up_root();
    expect_one_line_naming(refusal(path_), "Permission denied");
  });
  EXPECT_EQ(secret, 0);
  fs::permissions(folder_, fs::perms(0755));
}

}  // namespace
}  // namespace parity
