// harness cache from outside, what other commands leave in the folder, and what they do when it
// takes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <vector>

#include "tests/harness_process.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

/// One module, quickly compiled.
constexpr const char* kOneModule =
    "run --backend host --filter 'split_kv_merge/v=bf16,out=f32/d=64,h=8/single'";

class CacheCommandTest : public ::testing::Test {
 protected:
  Ran harness(const std::string& arguments, const std::string& environment = "") {
    return run_harness(home_.path(), arguments, environment);
  }
  fs::path modules() const { return home_.path() / "modules"; }
  /// A file that looks like an entry of the cache, with bytes that are no image.
  fs::path plant(const std::string& name) {
    fs::create_directories(modules());
    std::ofstream(modules() / name) << "no image at all, but long enough for a trailer";
    return modules() / name;
  }

  /// `harness ARGUMENTS` with a compiler that counts: a line in `log` for each compile.
  Ran counted(const std::string& arguments, const fs::path& log) {
    const fs::path compiler = tools_.path() / "counting-compiler";
    std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *--version) ;; *) echo x >>'"
                            << log.string() << "' ;; esac\nexec c++ \"$@\"\n";
    fs::permissions(compiler, fs::perms(0755));
    return harness(arguments, "CXX='" + compiler.string() + "'");
  }
  /// Runs in which the folder of modules does not take the one module: it is compiled once, before
  /// the workers that run it, each run says so in one line, and leaves nothing.
  void expect_one_compile_a_run(const std::string& reason) {
    for (const std::string log : {"first", "second"}) {
      const Ran ran = counted(kOneModule, tools_.path() / log);
      EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
      EXPECT_EQ(read_file(tools_.path() / log), "x\n");
      EXPECT_TRUE(ran.err.starts_with("warning: cannot write modules to " + modules().string() +
                                      " " + reason))
          << ran.err;
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
      for (const auto& run : fs::directory_iterator(home_.path() / "runs"))
        EXPECT_FALSE(fs::exists(run.path() / "modules")) << run.path();
    }
  }

  TemporaryFolder tools_;
  const std::string kEntry = "0123456789abcdef0123456789abcdef";
  TemporaryFolder home_;
};

TEST_F(CacheCommandTest, InfoCountsEntriesAndNamesFolderAndLimit) {
  plant(kEntry + ".so");
  plant("notes.txt");
  const Ran ran = harness("cache info", "PARITY_CACHE_BYTES=1000");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const std::string& line : {"folder     " + modules().string(), std::string("entries    1\n"),
                                  std::string("bytes      46\n"), std::string("limit      1000"),
                                  "foreign    " + (modules() / "notes.txt").string()})
    EXPECT_NE(ran.out.find(line), std::string::npos) << line << "\n" << ran.out;
}

TEST_F(CacheCommandTest, VerifyNamesDamagedAndForeignFiles) {
  ASSERT_EQ(harness(kOneModule).exit_code, 0);
  Ran ran = harness("cache verify");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("1 images, 0 damaged, 0 foreign"), std::string::npos) << ran.out;

  const fs::path damaged = plant(kEntry + ".cubin");
  const fs::path foreign = plant("notes.txt");
  ran = harness("cache verify");
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("damaged    " + damaged.string()), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("foreign    " + foreign.string()), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("2 images, 1 damaged, 1 foreign"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("harness cache clear"), std::string::npos) << ran.out;
}

TEST_F(CacheCommandTest, AForeignNameStaysOnItsLine) {
  plant("a\nb\x1b[31m\\c");
  for (const char* command : {"cache info", "cache verify"}) {
    const Ran ran = harness(command);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_NE(ran.out.find(R"(/a\x0ab\x1b[31m\x5cc)"
                           "\n"),
              std::string::npos)
        << ran.out;
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << ran.out;
  }
}

TEST_F(CacheCommandTest, ClearRemovesEntriesAndNothingElse) {
  plant(kEntry + ".so");
  plant(kEntry + ".cpp");
  const fs::path foreign = plant("notes.txt");
  const Ran ran = harness("cache clear");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("removed 1 entries of 92 bytes"), std::string::npos) << ran.out;
  EXPECT_EQ(std::distance(fs::directory_iterator(modules()), {}), 1);
  EXPECT_TRUE(fs::exists(foreign));
}

/// A source that went before its compiler read it made a clean case one that cannot run.
TEST_F(CacheCommandTest, ARunIsNotAccusedOfWhatIsClearedBesideIt) {
  const fs::path compiler = tools_.path() / "clearing-compiler";
  const fs::path log = tools_.path() / "log";
  std::ofstream(compiler) << "#!/bin/sh\ncase \"$*\" in *--version) ;; *) PARITY_HOME='"
                          << home_.path().string() << "' '" PARITY_HARNESS "' cache clear >>'"
                          << log.string() << "' 2>&1; setsid sleep 60 >/dev/null 2>&1 & echo $! >>'"
                          << (tools_.path() / "orphan").string() << "' ;; esac\nexec c++ \"$@\"\n";
  fs::permissions(compiler, fs::perms(0755));
  const Ran ran = harness(kOneModule, "CXX='" + compiler.string() + "'");
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_NE(read_file(log).find("stay: a run uses them"), std::string::npos) << read_file(log);
  // What a compiler leaves behind holds nothing.
  EXPECT_NE(harness("cache clear").out.find("removed 1 entries"), std::string::npos);
  kill(std::stoi(read_file(tools_.path() / "orphan")), SIGKILL);
}

TEST_F(CacheCommandTest, InfoSaysWhatIsThereWhereNothingCanBeMade) {
  plant(kEntry + ".so");
  for (const char* name : {"packs", "runs"})
    fs::create_symlink("/proc/nowhere", home_.path() / name);  // root included
  const Ran ran = harness("cache info");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(ran.out.find("entries    1\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("packs      0 files"), std::string::npos) << ran.out;
  std::ofstream(tools_.path() / "file") << "in the way";
  EXPECT_EQ(run_harness(tools_.path() / "file", "cache info").exit_code, 5);
}

TEST_F(CacheCommandTest, AnUnknownActionIsRefusedNamingTheKnownOnes) {
  const Ran ran = harness("cache empty");
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("verify"), std::string::npos) << ran.err;
  EXPECT_EQ(harness("cache").exit_code, 2);
}

TEST_F(CacheCommandTest, ALimitThatIsNoNumberIsRefusedByEveryCommand) {
  for (const char* command : {"list", "cache info", kOneModule}) {
    const Ran ran = harness(command, "PARITY_CACHE_BYTES=4G");
    EXPECT_EQ(ran.exit_code, 2) << command;
    EXPECT_NE(ran.err.find("PARITY_CACHE_BYTES is '4G'"), std::string::npos) << ran.err;
  }
}

TEST_F(CacheCommandTest, WorkersKeepTheLimit) {
  const fs::path old = plant(kEntry + ".so");
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(harness(kOneModule).exit_code, 0);
  EXPECT_TRUE(fs::exists(old)) << "there is room";
  fs::remove_all(home_.path() / "packs");
  for (const auto& entry : fs::directory_iterator(modules()))
    if (entry.path() != old) fs::remove(entry.path());
  EXPECT_EQ(harness(kOneModule, "PARITY_CACHE_BYTES=1").exit_code, 0);
  EXPECT_FALSE(fs::exists(old));
}

// D8: a key that never hits; PATH spelling in the key.
TEST_F(CacheCommandTest, ASecondRunCompilesNothingHoweverPathIsSpelt) {
  const fs::path log = tools_.path() / "log";
  const auto run = [&](const std::string& folder, const std::string& name) {
    return harness(kOneModule, "CXX=" + name + " PATH='" + folder + "':\"$PATH\"");
  };
  const Ran first = counted(kOneModule, log);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_EQ(read_file(log), "x\n");
  for (const char* folder : {"", "/."})
    EXPECT_EQ(run(tools_.path().string() + folder, "counting-compiler").exit_code, 0);
  EXPECT_EQ(run("/nowhere", (tools_.path() / "counting-compiler").string()).exit_code, 0);
  EXPECT_EQ(read_file(log), "x\n");
}

TEST_F(CacheCommandTest, AModuleWhosePlaceIsTakenIsCompiledOnceARun) {
  ASSERT_EQ(counted(kOneModule, tools_.path() / "log").exit_code, 0);
  std::vector<fs::path> images;
  for (const auto& entry : fs::directory_iterator(modules()))
    if (entry.path().extension() == ".so") images.push_back(entry.path());
  ASSERT_EQ(images.size(), 1u);
  fs::remove(images[0]);
  fs::create_directory(images[0]);
  expect_one_compile_a_run("(Is a directory)");
  EXPECT_TRUE(fs::is_directory(images[0]));
}

TEST_F(CacheCommandTest, AFolderThatNobodyCanWriteMeansOneCompileARun) {
  fs::create_directory_symlink("/proc", modules());  // root included
  expect_one_compile_a_run("(");
}

}  // namespace
}  // namespace parity::test
