// Golden data as other people's tools see it: h5dump, h5diff and h5py. A tool that is not there
// fails its test by the name of its package.
#include <gtest/gtest.h>

#include <string>

#include "datasets/pack.hpp"
#include "tests/harness_process.hpp"
#include "tests/python.hpp"

namespace parity::test {
namespace {

namespace fs = std::filesystem;

bool installed(const std::string& tool) {
  return std::system(("command -v " + tool + " >/dev/null 2>&1").c_str()) == 0;
}

class GoldenToolsTest : public ::testing::Test {
 protected:
  GoldenToolsTest() {
    const Ran ran = run_harness(
        folder_.path(),
        "golden regenerate --filter '*/offset' --filter '*/single' --out " + file("a.h5"));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
  }
  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }
  /// Exit code, and what it printed on either stream.
  Ran shell(const std::string& command) const {
    const int status = std::system((command + " >" + file("log") + " 2>&1").c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(file("log")), ""};
  }

  TemporaryFolder folder_;
};

TEST_F(GoldenToolsTest, H5dumpShowsAttributesFiltersAndUserBlock) {
  ASSERT_TRUE(installed("h5dump")) << "install the package hdf5-tools";
  const Ran all = shell("h5dump " + file("a.h5"));
  EXPECT_EQ(all.exit_code, 0) << "every chunk is read and its checksum compared";
  const Ran head = shell("h5dump -B -p -H " + file("a.h5"));
  EXPECT_EQ(head.exit_code, 0) << head.out;
  for (const char* part : {"USERBLOCK_SIZE 512", "PREPROCESSING SHUFFLE", "COMPRESSION DEFLATE",
                           "CHECKSUM FLETCHER32", "ATTRIBUTE \"reference\""})
    EXPECT_NE(head.out.find(part), std::string::npos) << part;
  const Ran schema = shell("h5dump -a /schema " + file("a.h5"));
  EXPECT_NE(schema.out.find("\"parity.pack/2\""), std::string::npos) << schema.out;
}

TEST_F(GoldenToolsTest, H5diffFindsNothingAndThenTheOneElement) {
  ASSERT_TRUE(installed("h5diff")) << "install the package hdf5-tools";
  fs::copy_file(file("a.h5"), file("b.h5"));
  EXPECT_EQ(shell("h5diff " + file("a.h5") + " " + file("b.h5")).exit_code, 0);
  const PackReader reader(file("a.h5"));
  PackWriter writer(file("b.h5"), reader.provenance());
  for (const std::string& id : reader.ids()) {
    PackCase one = reader.read(id);
    Tensor& expected = *one.outputs[0].expected;
    if (id == reader.ids()[1]) expected.set(7, expected.at(7) + 0.5);
    writer.add(one);
  }
  writer.commit();
  const Ran ran = shell("h5diff " + file("a.h5") + " " + file("b.h5"));
  EXPECT_EQ(ran.exit_code, 1) << ran.out;
  EXPECT_NE(ran.out.find("dataset: </cases/000001/outputs/out/expected> and "
                         "</cases/000001/outputs/out/expected>\n1 differences found"),
            std::string::npos)
      << ran.out;
}

/// All that datasets/SCHEMA.md says of user block, digests and cases.
TEST_F(GoldenToolsTest, H5pyAndXxhashAgreeWithEveryDigest) {
  const Python python = find_python({"numpy", "h5py", "xxhash"});
  ASSERT_FALSE(python.command.empty()) << "install the package " << python.missing;
  std::ofstream(file("read.py")) << R"(
import sys
import h5py
import numpy as np
import xxhash

path = sys.argv[1]
whole = open(path, "rb").read()
seal = xxhash.xxh3_128_hexdigest(whole[512:])
block = f"parity.pack/2\nxxh3-128 {seal}\nbytes {len(whole)}\n".encode()
assert whole[:512] == block.ljust(512, b"\0")
file = h5py.File(path, "r")
assert file.userblock_size == 512
checked = 0
def check(dataset):
    global checked
    file_type = dataset.id.get_type()
    out = np.empty(dataset.shape, f"<u{file_type.get_size()}")
    dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, mtype=file_type)
    text = dataset.attrs["type"] + b"\n" + out.tobytes()
    assert xxhash.xxh3_128_hexdigest(text) == dataset.attrs["digest"].decode(), dataset.name
    checked += 1
for i, id in enumerate(file["ids"][:]):
    case = file[f"cases/{i:06}"]
    assert case.attrs["id"] == id and case.attrs["reference"] == b"1"
    for tensor in case["inputs"].values():
        check(tensor)
    for output in case["outputs"].values():
        check(output["expected"])
        check(output["bound"])
assert checked > 20
print("agreed")
)";
  const Ran ran = shell(python.command + " " + file("read.py") + " " + file("a.h5"));
  EXPECT_EQ(ran.out, "agreed\n");
}

}  // namespace
}  // namespace parity::test
