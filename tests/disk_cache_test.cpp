// The disk cache under edits, damage, rivals and folders that cannot be written.
#include "device/disk_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <thread>

#include "device/kernel_text.hpp"
#include "fake_device.hpp"
#include "temporary_folder.hpp"
#include "tests/rival_processes.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

bool holds(const fs::path& image, const std::string& text) {
  return read_file(image).starts_with("image of " + text);
}

std::set<std::string> suffixes(const fs::path& folder) {
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) found.insert(entry.path().extension());
  return found;
}

class DiskCacheTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  FakeToolchain toolchain_;
};

TEST_F(DiskCacheTest, SecondProcessCompilesNothing) {
  const fs::path first = DiskCache(folder_.path()).image("text", toolchain_);
  const fs::path second = DiskCache(folder_.path()).image("text", toolchain_);
  EXPECT_EQ(first, second);
  EXPECT_TRUE(holds(second, "text"));
  EXPECT_EQ(toolchain_.compiles, 1);
}

TEST_F(DiskCacheTest, SourceLiesBesideTheImage) {
  DiskCache cache(folder_.path());
  const fs::path image = cache.image("text", toolchain_);
  EXPECT_EQ(cache.source_path("text", toolchain_), fs::path(image).replace_extension(".cpp"));
  EXPECT_EQ(read_file(cache.source_path("text", toolchain_)), "text");
  toolchain_.id.name = "nvrtc";
  EXPECT_EQ(cache.source_path("text", toolchain_).extension(), ".cu");
}

// D2: same name, new source.
TEST_F(DiskCacheTest, EditedTextUnderOneKernelNameIsNewCode) {
  KernelTexts texts = {{"k.cuh", "x * 2"}};
  const VariantSpec spec{"k", {{"D", 64}}, {}};
  DiskCache cache(folder_.path());
  const fs::path before = cache.image(render(spec, texts), toolchain_);
  texts[0].second = "x + 100";
  const fs::path after = cache.image(render(spec, texts), toolchain_);
  EXPECT_NE(before, after);
  EXPECT_NE(read_file(after).find("x + 100"), std::string::npos);
  EXPECT_EQ(read_file(after).find("x * 2"), std::string::npos);
}

// D4: what a text includes is part of it, at any depth.
TEST_F(DiskCacheTest, EditedIncludeOrConstantIsBuiltAnewByTheNextProcess) {
  KernelTexts texts = {{"k.cuh", "#include \"a.cuh\"\nkernel"},
                       {"a.cuh", "#include \"b.cuh\"\nint a;"},
                       {"b.cuh", "int b;"}};
  VariantSpec spec{"k", {{"D", 64}}, {{"q", Dtype::f16}}};
  std::set<fs::path> images;
  const auto build = [&] {
    images.insert(DiskCache(folder_.path()).image(render(spec, texts), toolchain_));
  };
  build();
  build();
  EXPECT_EQ(toolchain_.compiles, 1);
  texts[2].second = "int b = 1;";
  build();
  spec.constants[0].second = 128;
  build();
  spec.dtypes[0].second = Dtype::bf16;
  build();
  EXPECT_EQ(images.size(), 4u);
  EXPECT_EQ(toolchain_.compiles, 4);
}

// D4 and D8: whatever changes the code changes the entry, and nothing else does.
TEST_F(DiskCacheTest, OtherOptionVersionArchitectureOrToolchainIsBuiltAnew) {
  DiskCache cache(folder_.path());
  std::set<fs::path> images{cache.image("text", toolchain_)};
  const ToolchainIdentity original = toolchain_.id;
  const auto build_with = [&](auto change) {
    toolchain_.id = original;
    change(toolchain_.id);
    const fs::path image = cache.image("text", toolchain_);
    images.insert(image);
    const int compiles = toolchain_.compiles;
    EXPECT_EQ(DiskCache(folder_.path()).image("text", toolchain_), image);
    EXPECT_EQ(toolchain_.compiles, compiles) << "the next process finds it";
  };
  build_with([](ToolchainIdentity& id) { id.options.push_back("-g"); });
  build_with([](ToolchainIdentity& id) { id.options = {}; });
  build_with([](ToolchainIdentity& id) { id.version = "1.1"; });
  build_with([](ToolchainIdentity& id) { id.architecture = "fake_100"; });
  build_with([](ToolchainIdentity& id) { id.name = "other"; });
  EXPECT_EQ(images.size(), 6u);
  EXPECT_EQ(toolchain_.compiles, 6);
}

TEST_F(DiskCacheTest, FieldsThatRunTogetherStayApart) {
  DiskCache cache(folder_.path());
  toolchain_.id.options = {"-a", "-b"};
  const fs::path two = cache.image("text", toolchain_);
  toolchain_.id.options = {"-a-b"};
  EXPECT_NE(cache.image("text", toolchain_), two);
}

// D8: validity is content, never time or the spelling of the folder.
TEST_F(DiskCacheTest, TimeStampsAndFolderSpellingDoNotMatter) {
  const fs::path image = DiskCache(folder_.path()).image("text", toolchain_);
  fs::last_write_time(image, fs::file_time_type::clock::now() - std::chrono::hours(24 * 365));
  DiskCache(folder_.path() / "." / "").image("text", toolchain_);
  EXPECT_EQ(toolchain_.compiles, 1);
}

// D9: a truncated entry.
TEST_F(DiskCacheTest, EntryCutAtEachQuarterIsRebuilt) {
  DiskCache cache(folder_.path());
  const std::string text(1000, 'x');
  const fs::path image = cache.image(text, toolchain_);
  const std::string sound = read_file(image);
  for (int quarter = 0; quarter < 4; ++quarter) {
    write_bytes(image, sound.substr(0, sound.size() * quarter / 4));
    testing::internal::CaptureStderr();
    EXPECT_EQ(cache.image(text, toolchain_), image);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
    EXPECT_EQ(read_file(image), sound) << quarter;
  }
  EXPECT_EQ(toolchain_.compiles, 5);
}

// D9: silent damage, in the image and in its checksum.
TEST_F(DiskCacheTest, EntryWithOneBitFlippedIsRebuilt) {
  DiskCache cache(folder_.path());
  const fs::path image = cache.image("some text", toolchain_);
  const std::string sound = read_file(image);
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
    write_bytes(image, damaged);
    testing::internal::CaptureStderr();
    cache.image("some text", toolchain_);
    EXPECT_NE(testing::internal::GetCapturedStderr(), "") << "byte " << at;
    EXPECT_EQ(read_file(image), sound) << "byte " << at;
  }
}

TEST_F(DiskCacheTest, SoundImageUnderAForeignNameIsRebuilt) {
  DiskCache cache(folder_.path());
  const fs::path one = cache.image("one", toolchain_);
  const fs::path two = cache.image("two", toolchain_);
  fs::copy_file(one, two, fs::copy_options::overwrite_existing);
  EXPECT_TRUE(holds(cache.image("two", toolchain_), "two"));
  EXPECT_EQ(toolchain_.compiles, 3);
}

TEST_F(DiskCacheTest, CompileErrorLeavesTheSourceAndNoImage) {
  DiskCache cache(folder_.path());
  toolchain_.refuse = true;
  EXPECT_THROW(cache.image("text", toolchain_), CompileError);
  EXPECT_EQ(suffixes(folder_.path()), std::set<std::string>{".cpp"});
  toolchain_.refuse = false;
  EXPECT_TRUE(holds(cache.image("text", toolchain_), "text"));
}

// D9: rivals on a cold folder.
TEST_F(DiskCacheTest, EightProcessesShareAColdFolder) {
  toolchain_.delay = std::chrono::milliseconds(20);
  ASSERT_NO_FATAL_FAILURE(expect_in_eight_processes([&] {
    bool right = true;
    for (const std::string text : {"one", "two", "three"})
      right = right && holds(DiskCache(folder_.path()).image(text, toolchain_), text);
    return right;
  }));
  EXPECT_EQ(suffixes(folder_.path()), (std::set<std::string>{".cpp", ".so"}));
  EXPECT_TRUE(holds(DiskCache(folder_.path()).image("two", toolchain_), "two"));
  EXPECT_EQ(toolchain_.compiles, 0) << "the children's entries are sound";
}

TEST_F(DiskCacheTest, EightThreadsShareAColdFolder) {
  DiskCache cache(folder_.path());
  std::atomic<int> right{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&] { right += holds(cache.image("text", toolchain_), "text"); });
  }
  EXPECT_EQ(right, 8);
  EXPECT_EQ(suffixes(folder_.path()), (std::set<std::string>{".cpp", ".so"}));
}

/// A path below a plain file can be created by nobody, root included.
TEST_F(DiskCacheTest, UnwritableFolderIsReplacedWithOneWarningAndRemovedAtTheEnd) {
  write_bytes(folder_.path() / "file", "in the way");
  fs::path image;
  testing::internal::CaptureStderr();
  {
    DiskCache cache(folder_.path() / "file" / "modules");
    image = cache.image("one", toolchain_);
    EXPECT_TRUE(holds(image, "one"));
    EXPECT_TRUE(holds(cache.image("two", toolchain_), "two"));
    EXPECT_EQ(cache.image("one", toolchain_), image);
    EXPECT_EQ(read_file(cache.source_path("one", toolchain_)), "one");
  }
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
  EXPECT_EQ(toolchain_.compiles, 2);
  EXPECT_FALSE(fs::exists(image.parent_path()));
}

TEST_F(DiskCacheTest, NoFolderAtAllIsADeviceError) {
  const char* before = std::getenv("TMPDIR");
  const std::string old = before == nullptr ? "" : before;
  setenv("TMPDIR", "/proc", 1);  // A folder in which nobody can create anything.
  DiskCache cache("/proc/parity-modules");
  EXPECT_THROW(cache.image("text", toolchain_), DeviceError);
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", old.c_str(), 1);
}

}  // namespace
}  // namespace parity
