// Packs: what is written is read back bit for bit, here and by an independent reader.
#include "datasets/pack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/pack_fixture.hpp"
#include "tests/python.hpp"

namespace parity {
namespace {

TEST_F(PackTest, ReadsBackWhatWasWritten) {
  const std::vector<PackCase> cases = {attention_case("paged_decode_v1/q=bf16,k=f16/ragged3"),
                                       attention_case("another/case")};
  write_pack(path_, cases);
  const PackReader reader(path_);
  EXPECT_EQ(reader.ids(), (std::vector<std::string>{cases[0].id, cases[1].id}));
  EXPECT_EQ(reader.provenance().build, kProvenance.build);
  EXPECT_EQ(reader.provenance().reference, kProvenance.reference);
  for (const PackCase& want : cases) expect_equal(reader.read(want.id), want);
  EXPECT_EQ(files(), (std::vector<std::string>{"cases.h5"}));
}

TEST_F(PackTest, EveryBitPatternOfEveryDtypeSurvives) {
  PackCase all{"bits", "none", "none", 0, {}, {}};
  for (const Dtype dtype : kDtypes) {
    Tensor tensor(dtype, {1 << 16});
    const std::size_t size = size_of(dtype);
    for (std::size_t i = 0; i < tensor.bytes().size(); ++i)
      tensor.bytes()[i] = static_cast<std::byte>((i / size) >> (i % size % 2 == 0 ? 0 : 8));
    all.inputs.push_back(input_of(std::string(name(dtype)), std::move(tensor)));
  }
  write_pack(path_, {all});
  expect_equal(PackReader(path_).read("bits"), all);
}

TEST_F(PackTest, EveryRuleSurvives) {
  PackCase all{"rules", "none", "none", 0, {}, {}};
  for (const OutputRule rule : {OutputRule::rows, OutputRule::log_sum_exp, OutputRule::exact}) {
    const Tensor values(Dtype::f64, {2});
    all.outputs.push_back(
        {"out" + std::to_string(all.outputs.size()), {Dtype::f32, {2}}, rule, values, values});
  }
  write_pack(path_, {all});
  expect_equal(PackReader(path_).read("rules"), all);
}

TEST_F(PackTest, InputsAboveOneMebibyteAreKeptAsRecipeAndDigest) {
  PackCase large{"large", "op", "ragged3", 42, {}, {}};
  large.inputs.push_back(normal_input("at_limit", Dtype::f32, {1 << 18}));
  large.inputs.push_back(normal_input("beyond", Dtype::f32, {(1 << 18) + 1}));
  write_pack(path_, {large});
  const PackCase got = PackReader(path_).read("large");
  EXPECT_EQ(got.inputs[0].data, large.inputs[0].data);
  EXPECT_FALSE(got.inputs[1].data.has_value());
  EXPECT_EQ(got.inputs[1].type, large.inputs[1].type);
  EXPECT_EQ(got.inputs[1].digest, large.inputs[1].digest);
}

TEST_F(PackTest, AWorkersPackHasOutputsWithoutExpected) {
  PackCase inputs_only = attention_case("a");
  for (PackOutput& output : inputs_only.outputs) {
    output.expected.reset();
    output.bound.reset();
  }
  write_pack(path_, {inputs_only});
  expect_equal(PackReader(path_).read("a"), inputs_only);
}

TEST_F(PackTest, OutputsBeyondOneChunkAreWhole) {
  PackCase large{"large", "op", "r", 1, {}, {}};
  PackOutput out{"out", {Dtype::f32, {3, 70001}}, OutputRule::rows, {}, {}};
  out.expected = ramp(Dtype::f64, {3, 70001});
  out.bound = Tensor(Dtype::f64, {3, 70001});
  large.outputs.push_back(out);
  write_pack(path_, {large});
  expect_equal(PackReader(path_).read("large"), large);
}

TEST_F(PackTest, APackWithoutCasesIsReadable) {
  write_pack(path_, {});
  EXPECT_TRUE(PackReader(path_).ids().empty());
}

TEST_F(PackTest, ManyCasesKeepTheirOrder) {
  std::vector<std::string> ids;
  std::vector<PackCase> cases;
  for (int i = 0; i < 40; ++i) {
    ids.push_back("case/" + std::to_string((i * 17) % 40));
    cases.push_back({ids.back(), "op", "r", static_cast<std::uint64_t>(i), {}, {}});
  }
  write_pack(path_, cases);
  const PackReader reader(path_);
  EXPECT_EQ(reader.ids(), ids);
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(reader.read(ids[i]).seed, i);
}

TEST_F(PackTest, SameDataGivesSameBytesTwoSecondsLater) {
  const std::vector<PackCase> cases = {attention_case("a"), attention_case("b")};
  write_pack(path_, cases);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  write_pack(folder_ / "again.h5", cases);
  EXPECT_EQ(bytes_of(path_), bytes_of(folder_ / "again.h5"));
}

TEST_F(PackTest, WrongCallsAreRefused) {
  PackWriter writer(path_, kProvenance);
  PackCase wrong_digest = attention_case("a");
  wrong_digest.inputs[0].digest.low ^= 1;
  EXPECT_THROW(writer.add(wrong_digest), UsageError);
  PackCase wrong_expected = attention_case("a");
  wrong_expected.outputs[0].expected = Tensor(Dtype::f32, {3, 8, 64});
  EXPECT_THROW(writer.add(wrong_expected), UsageError);
  PackCase wrong_name = attention_case("a");
  wrong_name.inputs[0].name = "q/k";
  EXPECT_THROW(writer.add(wrong_name), UsageError);
  writer.add(attention_case("a"));
  EXPECT_THROW(writer.add(attention_case("a")), UsageError);
  writer.commit();
  EXPECT_THROW(writer.add(attention_case("b")), UsageError);
  EXPECT_THROW(writer.commit(), UsageError);
  EXPECT_THROW(PackReader(path_).read("b"), UsageError);
}

/// The Python of datasets/SCHEMA.md: what a foreign worker's author would copy.
std::string schema_python() {
  const std::string page = bytes_of(PARITY_SOURCE_DIR "/datasets/SCHEMA.md");
  const std::string opening = "```python\n";
  std::string code;
  for (std::size_t at = page.find(opening); at != std::string::npos; at = page.find(opening, at)) {
    at += opening.size();
    code += page.substr(at, page.find("```", at) - at);
  }
  return code;
}

TEST_F(PackTest, AnIndependentReaderSeesRowMajorTensorsOfEveryFloatType) {
  const test::Python python = test::find_python({"numpy", "h5py"});
  ASSERT_FALSE(python.command.empty()) << "install the package " << python.missing;
  PackCase one{"rows/of=three", "op", "r", 7, {}, {}};
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::e4m3, Dtype::e5m2})
    one.inputs.push_back(normal_input(std::string(name(dtype)), dtype, {40, 33}));
  one.inputs.push_back(input_of("ramp", ramp(Dtype::bf16, {10, 3})));
  one.inputs.push_back(normal_input("beyond", Dtype::f32, {1 << 19}));
  write_pack(path_, {one});

  const fs::path script = folder_ / "read.py";
  write_bytes(script, schema_python() + R"(
import sys
file = h5py.File(sys.argv[1], "r")
assert text(file, "schema") == "parity.pack/2"
assert [i.decode() for i in file["ids"][:]] == ["rows/of=three"]
case = file["cases/000000"]
assert int(case.attrs["seed"]) == 7
rows = case["inputs/ramp"]
assert rows.shape == (10, 3) and rows[0].tolist() == [0, 1, 2] and rows[9].tolist() == [27, 28, 29]
assert values("bf16", bits(rows))[1].tolist() == [3, 4, 5]
for dtype in ["f32", "f16", "bf16", "e4m3", "e5m2"]:
    tensor = case["inputs/" + dtype]
    stream = int(tensor.attrs["stream"])
    want = np.array([normal_element(7, stream, i) for i in range(40 * 33)]).reshape(40, 33)
    got = values(dtype, bits(tensor))
    assert np.array_equal(got, rounded(dtype, want)), dtype
    if dtype != "e4m3":
        assert np.array_equal(tensor[()].astype(np.float64), got), dtype
assert case["inputs/beyond"].shape is None and text(case["inputs/beyond"], "type") == "f32[524288]"
assert abs(ln_of(1000) - math.log(1000)) < 0.01
print("agreed")
)");
  const std::string log = folder_ / "log";
  const int status = std::system(
      (python.command + " " + script.string() + " " + path_.string() + " >" + log + " 2>&1")
          .c_str());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(bytes_of(log), "agreed\n");
}

}  // namespace
}  // namespace parity
