// The text form of a module key.
#include "device/variant.hpp"

#include <gtest/gtest.h>

#include "datasets/errors.hpp"

namespace parity {
namespace {

const VariantSpec kDecode{"paged_decode_v1",
                          {{"D", 64}, {"GROUP", 4}},
                          {{"q", Dtype::f32}, {"k", Dtype::f16}, {"v", Dtype::bf16}}};

TEST(VariantTest, CanonicalTextNamesKernelConstantsAndDtypesInOrder) {
  EXPECT_EQ(kDecode.canonical(), "paged_decode_v1<D=64,GROUP=4>(q=f32,k=f16,v=bf16)");
  EXPECT_EQ(kDecode.dtype_text(), "q=f32,k=f16,v=bf16");
}

TEST(VariantTest, EmptyListsAreLeftOut) {
  EXPECT_EQ((VariantSpec{"k", {}, {}}).canonical(), "k");
  EXPECT_EQ((VariantSpec{"k", {{"D", -1}}, {}}).canonical(), "k<D=-1>");
  EXPECT_EQ((VariantSpec{"k", {}, {{"q", Dtype::e4m3}}}).canonical(), "k(q=e4m3)");
}

TEST(VariantTest, ParseInvertsCanonical) {
  for (const VariantSpec& spec :
       {kDecode, VariantSpec{"k", {}, {}}, VariantSpec{"k", {{"D", -1}}, {}},
        VariantSpec{"k", {}, {{"q", Dtype::e4m3}}}})
    EXPECT_EQ(VariantSpec::parse(spec.canonical()), spec) << spec.canonical();
}

TEST(VariantTest, ParseRefusesEverySecondSpelling) {
  for (const char* text : {"", "<D=1>", "k<>", "k()", "k<D=01>", "k<D=+1>", "k<D=1", "k<D=1>x",
                           "k<D>", "k<=1>", "k<D=1,>", "k<D=x>", "k<D=99999999999999999999>",
                           "k(q=f31)", "k(q=f32", "k(q=f32)<D=1>", "k(q=f32)(k=f32)"})
    EXPECT_THROW(VariantSpec::parse(text), UsageError) << text;
}

TEST(VariantTest, EveryPartOfAModuleKeyIsCompared) {
  const ModuleKey key{kDecode, {1, 2}, {"nvrtc", "13.0", "sm_90a", {"-O2"}}};
  std::vector<ModuleKey> others(8, key);
  others[0].spec.kernel = "paged_decode_v2";
  others[1].spec.constants[0].second = 128;
  others[2].spec.dtypes[1].second = Dtype::f32;
  others[3].text.low = 3;
  others[4].toolchain.name = "host";
  others[5].toolchain.version = "12.8";
  others[6].toolchain.architecture = "sm_100a";
  others[7].toolchain.options.clear();
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_NE(key, others[i]) << i;
}

}  // namespace
}  // namespace parity
