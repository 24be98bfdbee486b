// The file of tuned plans: it comes back, and whatever happens to it, no wrong plan comes out.
#include "device/autotune_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "datasets/digest.hpp"
#include "datasets/errors.hpp"
#include "device/autotune.hpp"
#include "tests/fake_device.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tuning_sample.hpp"

namespace parity {
namespace {

using test::sample_tuning_key;
using test::with_dtype;

/// Fails the test that asks it.
class NoClock final : public TuningClock {
 public:
  double time(const TuningKey& key, const TunedPlan&) const override {
    ADD_FAILURE() << key.canonical() << " is tuned";
    return 1;
  }
};

class AutotuneFileTest : public testing::Test {
 protected:
  std::string written(const std::map<TuningKey, TunedPlan>& entries) {
    write_autotune_file(path_, entries);
    return read_file(path_);
  }
  AutotuneFile read_back(const std::string& bytes) { return parse_autotune_file(path_, bytes); }
  std::string file_of(const std::string& entry) {
    return "parity autotune 2\n" + digest(entry).hex() + " " + entry + "\n";
  }

  const TuningKey key_ = sample_tuning_key();
  const TuningKey other_ = with_dtype(key_, 2, Dtype::f32);
  const std::map<TuningKey, TunedPlan> two_ = {{key_, {4, 8}}, {other_, {1, 4}}};
  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "plans";
};

TEST_F(AutotuneFileTest, ComesBackAndTheSameEntriesGiveTheSameBytes) {
  const std::string bytes = written(two_);
  const AutotuneFile read = read_autotune_file(path_);
  EXPECT_EQ(read.entries, two_);
  EXPECT_EQ(read.refused, std::vector<std::string>{});
  EXPECT_EQ(written(two_), bytes);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(AutotuneFileTest, AMissingFileIsEmptyAndAFolderIsRefused) {
  const AutotuneFile missing = read_autotune_file(path_);
  EXPECT_TRUE(missing.entries.empty());
  EXPECT_TRUE(missing.refused.empty());
  EXPECT_EQ(read_autotune_file(folder_.path()).refused.size(), 1u);
  EXPECT_THROW(write_autotune_file(folder_.path(), two_), DatasetError);
  EXPECT_THROW(write_autotune_file(path_ / "below", two_), DatasetError);
}

/// Every byte flipped in its lowest and its highest bit, and the file cut off before it: what comes
/// back is what was written, or less, and then it is said.
TEST_F(AutotuneFileTest, DamageAnywhereLosesEntriesAndNeverMakesOne) {
  const std::string bytes = written(two_);
  const auto expect_sound = [&](const std::string& damaged, std::size_t at) {
    const AutotuneFile read = read_back(damaged);
    for (const auto& entry : read.entries) EXPECT_TRUE(std::ranges::count(two_, entry) == 1) << at;
    EXPECT_LT(read.entries.size(), two_.size()) << at;
    for (const std::string& line : read.refused)
      EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; })) << at;
    return read;
  };
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {1, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ bit);
      EXPECT_GE(expect_sound(damaged, at).refused.size(), 1u) << at;
    }
    expect_sound(bytes.substr(0, at), at);
  }
}

/// D6. The checksum is right each time: somebody meant it.
TEST_F(AutotuneFileTest, AnInvalidEntryIsRefusedNamingFileLineAndReason) {
  const std::string key = key_.canonical();
  TuningKey wide = key_;
  wide.group_size = 4;
  TuningKey nosuch = key_;
  nosuch.kernel = "nosuch";
  const TuningKey mixed = with_dtype(key_, 1, Dtype::bf16);
  for (const auto& [entry, reason] : std::vector<std::pair<std::string, std::string>>{
           {key + " ppc=0,tile=8", "'ppc=0,tile=8' is no plan for"},
           {key + " ppc=-4,tile=8", "'ppc=-4,tile=8' is no plan for"},
           {key + " ppc=8,tile=8", "'ppc=8,tile=8' is no plan for"},
           {key + " ppc=4,tile=16", "'ppc=4,tile=16' is no plan for"},
           {wide.canonical() + " ppc=4,tile=8", "'ppc=4,tile=8' is no plan for"},
           {key + " ppc=4", "'ppc=4' is no tuned plan"},
           {key, "is no tuned entry"},
           {nosuch.canonical() + " ppc=4,tile=8", "kernel 'nosuch' is not tuned"},
           {mixed.canonical() + " ppc=4,tile=8", "out is bf16, but must be q's f16 or f32"},
           {"paged_decode_v2 ppc=4,tile=8", "no tuning key"}}) {
    const AutotuneFile read = read_back(file_of(entry));
    EXPECT_TRUE(read.entries.empty()) << entry;
    ASSERT_EQ(read.refused.size(), 1u) << entry;
    EXPECT_EQ(read.refused[0].find(path_.string() + ":2: entry refused and tuned again: "), 0u);
    EXPECT_NE(read.refused[0].find(reason), std::string::npos) << read.refused[0];
  }
}

TEST_F(AutotuneFileTest, AnotherVersionIsRefusedOnceForTheWholeFile) {
  std::string bytes = written(two_);
  bytes.replace(0, bytes.find('\n'), "parity autotune 1");
  const AutotuneFile read = read_back(bytes);
  EXPECT_TRUE(read.entries.empty());
  EXPECT_EQ(read.refused, (std::vector<std::string>{
                              path_.string() + ":1: is not 'parity autotune 2', so its entries are "
                                               "tuned again"}));
}

/// What is there and is no file of plans, by name.
std::vector<std::filesystem::path> strangers(const std::filesystem::path& folder) {
  const std::filesystem::path pipe = folder / "pipe", text = folder / "text",
                              loop = folder / "loop";
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(text) << "somebody's notes\n";
  std::filesystem::create_symlink(loop, loop);
  std::filesystem::create_symlink(text, folder / "link to text");
  std::filesystem::create_symlink(pipe, folder / "link to pipe");
  return {folder, pipe, text, loop, folder / "link to text", folder / "link to pipe"};
}

/// A pipe that nobody writes to would be read for ever.
TEST_F(AutotuneFileTest, WhatIsNoFileOfPlansIsNeitherReadNorReplaced) {
  for (const std::filesystem::path& path : strangers(folder_.path())) {
    const auto before = std::filesystem::symlink_status(path).type();
    EXPECT_NE(autotune_file_fault(path), "") << path;
    const AutotuneFile read = read_autotune_file(path);
    EXPECT_TRUE(read.entries.empty()) << path;
    EXPECT_EQ(read.refused.size(), 1u) << path;
    EXPECT_THROW(write_autotune_file(path, two_), DatasetError) << path;
    EXPECT_EQ(std::filesystem::symlink_status(path).type(), before) << path;
  }
  EXPECT_EQ(read_file(folder_.path() / "text"), "somebody's notes\n");
  EXPECT_NE(autotune_file_fault(folder_.path() / "no" / "plans"), "") << "there is no such folder";
}

TEST_F(AutotuneFileTest, PlansAnEmptyFileAndNoneAreTakenAndLinksAreFollowed) {
  const std::filesystem::path link = folder_.path() / "link", second = folder_.path() / "second";
  std::filesystem::create_symlink("plans", link);
  std::filesystem::create_symlink(link, second);
  EXPECT_EQ(autotune_file_fault(second), "") << "it leads to no file yet";
  EXPECT_FALSE(std::filesystem::exists(path_)) << "asking makes none";
  write_autotune_file(second, two_);
  EXPECT_TRUE(std::filesystem::is_symlink(second) && std::filesystem::is_symlink(link));
  EXPECT_EQ(read_autotune_file(path_).entries, two_);
  EXPECT_EQ(read_autotune_file(second).entries, two_);
  EXPECT_EQ(autotune_file_fault(second), "");
  std::ofstream(path_, std::ios::trunc).close();
  EXPECT_EQ(autotune_file_fault(path_), "");
  EXPECT_TRUE(read_autotune_file(path_).refused.empty());
  std::ofstream(path_) << "parity autotune 1\nof an older build\n";
  EXPECT_EQ(autotune_file_fault(path_), "");
  write_autotune_file(path_, two_);
  EXPECT_EQ(read_autotune_file(path_).entries, two_);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 3);
}

/// D6: a key of the file is never weaker than the launch's, whatever is planted in the process.
TEST_F(AutotuneFileTest, AMemoTakesALoadedPlanForExactlyItsKeyAndSavesIt) {
  written({{key_, {2, 4}}});
  AutotuneMemo memo{Faults{.memo_without_dtype = true}};
  Trace trace;
  EXPECT_EQ(memo.load(path_), std::vector<std::string>{});
  EXPECT_EQ(memo.choose(other_, RecordedClock(), trace), (TunedPlan{1, 4})) << "tuned";
  memo.restore();
  EXPECT_EQ(memo.choose(key_, NoClock(), trace), (TunedPlan{2, 4})) << "loaded";
  AutotuneMemo whole{Faults{}};
  whole.load(path_);
  whole.choose(other_, RecordedClock(), trace);
  whole.save(path_);
  EXPECT_EQ(read_autotune_file(path_).entries,
            (std::map<TuningKey, TunedPlan>{{key_, {2, 4}}, {other_, {1, 4}}}));
}

/// D8: a measured plan outlives neither driver nor code; each alone.
TEST_F(AutotuneFileTest, APlanOfAnotherDriverOrOtherCodeIsNotTaken) {
  written({{key_, {2, 4}}});
  for (const auto field : {&TuningKey::driver, &TuningKey::code}) {
    AutotuneMemo memo{Faults{}};
    Trace trace;
    memo.load(path_);
    TuningKey now = key_;
    now.*field = "other";
    EXPECT_EQ(memo.choose(key_, NoClock(), trace), (TunedPlan{2, 4}));
    EXPECT_NE(memo.choose(now, RecordedClock(), trace), (TunedPlan{2, 4})) << "tuned anew";
  }
}

}  // namespace
}  // namespace parity
