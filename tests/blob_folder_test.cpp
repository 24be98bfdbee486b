// Output bytes by digest: what is read is what was digested, or an error.
#include "harness/blob_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "datasets/errors.hpp"
#include "datasets/fill.hpp"
#include "tests/temporary_folder.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

class BlobFolderTest : public testing::Test {
 protected:
  BlobFolderTest() : tensor(Dtype::f16, {3, 5}) { fill_normal(tensor, 1, "out"); }
  void write() const { write_blob(folder.path(), digest(tensor), tensor.bytes()); }
  fs::path file() const { return folder.path() / digest(tensor).hex(); }
  Tensor read() const { return BlobFolder(folder.path()).read(tensor.type(), digest(tensor)); }
  TemporaryFolder folder;
  Tensor tensor;
};

TEST_F(BlobFolderTest, ReadsBackWhatWasWritten) {
  write();
  EXPECT_EQ(read(), tensor);
  EXPECT_EQ(fs::file_size(file()), 30u);
}

TEST_F(BlobFolderTest, AnEmptyTensorHasAnEmptyFile) {
  tensor = Tensor(Dtype::f32, {0, 4});
  write();
  EXPECT_EQ(read(), tensor);
}

TEST_F(BlobFolderTest, WritingAgainLeavesTheFileAndNoOther) {
  write();
  const auto before = fs::last_write_time(file());
  write();
  EXPECT_EQ(fs::last_write_time(file()), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST_F(BlobFolderTest, AMissingFileIsAnError) {
  EXPECT_THROW(read(), DatasetError);
}

TEST_F(BlobFolderTest, ADamagedFileIsAnError) {
  write();
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).put('\x55').put('\x55');
  EXPECT_THROW(read(), DatasetError);
}

TEST_F(BlobFolderTest, ATruncatedFileIsAnErrorAndIsWrittenAnew) {
  write();
  fs::resize_file(file(), 29);
  EXPECT_THROW(read(), DatasetError);
  write();
  EXPECT_EQ(read(), tensor);
}

TEST_F(BlobFolderTest, WhatIsDamagedGoesSoThatItIsWrittenAnew) {
  const BlobFolder blobs(folder.path());
  EXPECT_FALSE(blobs.sound(tensor.type(), digest(tensor)));
  write();
  EXPECT_TRUE(blobs.sound(tensor.type(), digest(tensor)));
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary).put('\x55').put('\x55');
  EXPECT_FALSE(blobs.sound(tensor.type(), digest(tensor)));
  write();
  EXPECT_EQ(read(), tensor) << "one of the same size would have stayed";
}

TEST_F(BlobFolderTest, TheSameBytesOfAnotherTypeAreAnError) {
  write();
  EXPECT_THROW(BlobFolder(folder.path()).read({Dtype::bf16, {3, 5}}, digest(tensor)), DatasetError);
  EXPECT_THROW(BlobFolder(folder.path()).read({Dtype::f16, {5, 3}}, digest(tensor)), DatasetError);
}

TEST_F(BlobFolderTest, AFolderThatIsNotThereIsAnError) {
  EXPECT_THROW(write_blob(folder.path() / "none", digest(tensor), tensor.bytes()), DatasetError);
}

}  // namespace
}  // namespace parity
