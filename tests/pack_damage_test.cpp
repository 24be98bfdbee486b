// Packs that are damaged, locked or foreign, and writers that die or cannot write.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <array>
#include <csignal>

#include "tests/pack_fixture.hpp"

namespace parity {
namespace {

std::string read_error(const fs::path& path) {
  return dataset_error([&] { PackReader reader(path); });
}

/// Files may grow to `bytes` only while this lives, like a disk that fills up.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(PackTest, AMissingFileIsNamed) {
  const std::string message = read_error(path_);
  expect_one_line_naming(message, path_);
  expect_one_line_naming(message, "No such file");
}

TEST_F(PackTest, AFolderIsNotAPack) {
  expect_one_line_naming(read_error(folder_), "not a regular file");
}

TEST_F(PackTest, AFileThatIsNotHdf5IsNamed) {
  for (const std::string content : {"", "not a pack\n"}) {
    write_bytes(path_, content);
    expect_one_line_naming(read_error(path_), path_);
  }
}

TEST_F(PackTest, AnHdf5FileThatIsNoPackIsNamed) {
  H5Fclose(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  expect_one_line_naming(read_error(path_), "no attribute 'schema'");
}

TEST_F(PackTest, AnotherSchemaVersionIsRefused) {
  write_pack(path_, {attention_case("a")});
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "schema", H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  ASSERT_GE(H5Awrite(attribute, type, "parity.pack/2"), 0);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
  const std::string message = read_error(path_);
  expect_one_line_naming(message, "parity.pack/2");
  expect_one_line_naming(message, path_);
}

TEST_F(PackTest, AFileCutAtEachQuarterIsRefused) {
  write_pack(path_, {attention_case("a")});
  const std::string whole = bytes_of(path_);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) {
    write_bytes(path_, whole.substr(0, whole.size() * quarter / 4));
    expect_one_line_naming(read_error(path_), path_);
  }
  write_bytes(path_, whole.substr(0, whole.size() - 1));
  expect_one_line_naming(read_error(path_), path_);
}

TEST_F(PackTest, FlippedBitsAreNeverReadAsData) {
  const PackCase want = attention_case("a");
  write_pack(path_, {want});
  const std::string whole = bytes_of(path_);
  // In a child: HDF5 leaks memory of its own where a header is damaged, and might crash.
  const int status = in_child([&] {
    std::size_t refused = 0;
    std::size_t flips = 0;
    for (std::size_t at = 0; at < whole.size(); at += 211, ++flips) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
      write_bytes(path_, damaged);
      try {
        // A flip in bytes that belong to nothing changes nothing.
        expect_equal(PackReader(path_).read("a"), want);
      } catch (const DatasetError& error) {
        expect_one_line_naming(error.what(), path_);
        ++refused;
      }
    }
    EXPECT_GT(refused, flips / 2) << "of " << flips;
  });
  EXPECT_EQ(status, 0);
}

TEST_F(PackTest, ATensorThatIsNotWhatItsDigestSaysIsRefused) {
  write_pack(path_, {attention_case("a")});
  const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "cases/000000/inputs/page_indices", H5P_DEFAULT);
  const std::array<std::int32_t, 6> other = {0, 1, 2, 3, 4, 6};
  ASSERT_GE(H5Dwrite(dataset, H5T_STD_I32LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, other.data()), 0);
  H5Dclose(dataset);
  H5Fclose(file);
  const PackReader reader(path_);
  const std::string message = dataset_error([&] { reader.read("a"); });
  expect_one_line_naming(message, "'page_indices' is damaged");
  expect_one_line_naming(message, path_);
}

TEST_F(PackTest, AReaderOpensAFileThatAnotherProcessHoldsLocked) {
  const PackCase want = attention_case("a");
  write_pack(path_, {want});
  int ready[2];
  int done[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(done), 0);
  const pid_t holder = ::fork();
  if (holder == 0) {
    ::close(done[1]);
    const int fd = ::open(path_.c_str(), O_RDWR);
    char held = ::flock(fd, LOCK_EX | LOCK_NB) == 0 ? 'y' : 'n';
    if (::write(ready[1], &held, 1) != 1) ::_exit(1);
    while (::read(done[0], &held, 1) > 0) continue;
    ::_exit(0);
  }
  char held = 'n';
  ASSERT_EQ(::read(ready[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  expect_equal(PackReader(path_).read("a"), want);
  ::close(done[1]);
  int status = 0;
  ::waitpid(holder, &status, 0);
  EXPECT_EQ(status, 0);
  for (const int fd : {ready[0], ready[1], done[0]}) ::close(fd);
}

TEST_F(PackTest, AWriterLeftBeforeCommitLeavesTheOldFileAndNothingElse) {
  write_pack(path_, {attention_case("old")});
  const std::string old = bytes_of(path_);
  {
    PackWriter writer(path_, kProvenance);
    writer.add(attention_case("new"));
    EXPECT_EQ(files().size(), 2u);
  }
  EXPECT_EQ(bytes_of(path_), old);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(PackTest, AWriterKilledAtAnyStepLeavesTheOldFile) {
  write_pack(path_, {attention_case("old")});
  const std::string old = bytes_of(path_);
  const auto survives = [&] {
    EXPECT_EQ(bytes_of(path_), old);
    EXPECT_EQ(PackReader(path_).ids(), std::vector<std::string>{"old"});
  };
  for (int step = 0; step < 3; ++step) {
    const int status = in_child([&] {
      PackWriter writer(path_, kProvenance);
      for (int i = 0; i < step; ++i) writer.add(attention_case("new" + std::to_string(i)));
      ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(WIFSIGNALED(status));
    survives();
  }
  for (std::size_t quarter = 1; quarter < 4; ++quarter) {
    const int status = in_child([&] {
      ::signal(SIGXFSZ, SIG_DFL);
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      const FileSizeLimit limit(old.size() * quarter / 4);
      write_pack(path_, {attention_case("new")});
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ) << status;
    survives();
  }
  // What they left behind stops nobody.
  write_pack(path_, {attention_case("next")});
  EXPECT_EQ(PackReader(path_).ids(), std::vector<std::string>{"next"});
}

TEST_F(PackTest, AFullDiskIsOneErrorAndTheOldFileSurvives) {
  write_pack(path_, {attention_case("old")});
  const std::string old = bytes_of(path_);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  std::string message;
  {
    const FileSizeLimit limit(old.size() / 2);
    message = dataset_error([&] { write_pack(path_, {attention_case("new")}); });
  }
  ::signal(SIGXFSZ, handler);
  expect_one_line_naming(message, path_);
  expect_one_line_naming(message, "File too large");
  EXPECT_EQ(bytes_of(path_), old);
  EXPECT_EQ(files().size(), 1u);
}

/// Nothing more can be opened, and a folder has to be before it is synced.
TEST_F(PackTest, AFolderThatIsNotSyncedNamesTheNewFileAndNoOlderOne) {
  write_pack(path_, {attention_case("old")});
  PackWriter writer(path_, kProvenance);
  writer.add(attention_case("new"));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit used_up = before;
  used_up.rlim_cur = 3;  // Below what the writer holds, which stays open.
  ::setrlimit(RLIMIT_NOFILE, &used_up);
  const std::string message = dataset_error([&] { writer.commit(); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  expect_one_line_naming(message, "Too many open files");
  expect_one_line_naming(message, "has been written");
  EXPECT_EQ(message.find("older file"), std::string::npos) << message;
  EXPECT_EQ(PackReader(path_).ids(), std::vector<std::string>{"new"});
}

TEST_F(PackTest, AFolderThatCannotBeWrittenIsNamed) {
  for (const fs::path& path : {folder_ / "absent" / "cases.h5", fs::path("/dev/null/cases.h5")}) {
    const std::string message = dataset_error([&] { PackWriter writer(path, kProvenance); });
    expect_one_line_naming(message, path);
  }
}

}  // namespace
}  // namespace parity
