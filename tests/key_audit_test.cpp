// The audit of module keys: silent on sound keys, and told apart from silence by keys that lack
// something. Every kernel of the registry is tried, those added later too.
#include "harness/audit/key_audit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "device/faults.hpp"
#include "device/module_cache.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {
namespace {

const std::vector<ToolchainIdentity> kToolchains = {{"fake", "1.0", "fake_90", {"-O2"}}};

ModuleKey sound_key(const VariantSpec& spec, const Digest& text,
                    const ToolchainIdentity& toolchain) {
  return make_module_key(spec, text, toolchain, {});
}

/// The kernel with its variants of one head dim, or other first constant, alone: enough for a fault
/// to show.
KernelSpec narrowed(KernelSpec kernel) {
  kernel.variants = [all = kernel.variants] {
    std::vector<LaunchVariant> some = all();
    const auto constants = some.back().spec.constants;
    std::erase_if(some, [&](const LaunchVariant& variant) {
      return !constants.empty() && variant.spec.constants.front() != constants.front();
    });
    return some;
  };
  return kernel;
}

KeyAudit audit_of(const KernelSpec& kernel, const MakeKey& make_key) {
  return audit_keys({&kernel, 1}, kToolchains, make_key);
}

/// What is wrong with the keys of `kernel` itself.
std::vector<std::string> faults_of(const KeyAudit& audit, const std::string& kernel) {
  std::vector<std::string> found;
  for (const KeyFault& fault : audit.faults)
    if (fault.kernel == kernel) found.push_back(fault.what);
  return found;
}

bool has(const std::vector<std::string>& list, const std::string& start) {
  return std::ranges::any_of(list,
                             [&](const std::string& text) { return text.starts_with(start); });
}

/// The kernel with its variants of one choice of dtypes alone, over all constants.
KernelSpec one_dtype(KernelSpec kernel) {
  kernel.variants = [all = kernel.variants] {
    std::vector<LaunchVariant> some = all();
    const auto dtypes = some.front().asked.dtypes;
    std::erase_if(some,
                  [&](const LaunchVariant& variant) { return variant.asked.dtypes != dtypes; });
    return some;
  };
  return kernel;
}

/// The kernel with a fault in what its launch function asks for.
KernelSpec with_specs(KernelSpec kernel, std::function<void(VariantSpec&)> fault) {
  kernel.variants = [all = kernel.variants, fault] {
    std::vector<LaunchVariant> variants = all();
    for (LaunchVariant& variant : variants) fault(variant.spec);
    return variants;
  };
  return kernel;
}

void erase_axis(std::vector<std::pair<std::string, Dtype>>& dtypes, const std::string& axis) {
  std::erase_if(dtypes, [&](const auto& dtype) { return dtype.first == axis; });
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

class AuditOfEachKernelTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  const KernelSpec kernel_ = narrowed(registry()[GetParam()]);
  std::vector<std::string> axes_ = [this] {
    std::vector<std::string> axes;
    const LaunchVariant first = kernel_.variants().front();
    for (const auto& [axis, dtype] : first.asked.dtypes) axes.push_back(axis);
    return axes;
  }();
};

TEST_P(AuditOfEachKernelTest, SoundKeysAreOneForEachModule) {
  const KeyAudit audit = audit_of(kernel_, sound_key);
  EXPECT_EQ(audit.faults, std::vector<KeyFault>{});
  ASSERT_EQ(audit.kernels.size(), 1u);
  EXPECT_GE(audit.kernels[0].variants, 2u);
  EXPECT_EQ(audit.kernels[0].keys, audit.kernels[0].variants);
}

// The bug that the project exists for.
TEST_P(AuditOfEachKernelTest, TheWeakModuleKeyIsNamedWithAllWhoShareIt) {
  const KeyAudit audit = audit_of(
      kernel_, [](const VariantSpec& spec, const Digest& text, const ToolchainIdentity& toolchain) {
        return make_module_key(spec, text, toolchain, {.weak_module_key = true});
      });
  const auto shared = std::ranges::find_if(audit.faults, [&](const KeyFault& fault) {
    return fault.kernel == kernel_.name && fault.what == "two specs have one key";
  });
  ASSERT_NE(shared, audit.faults.end());
  const VariantSpec key = VariantSpec::parse(shared->key);
  const VariantSpec first = VariantSpec::parse(shared->first);
  const VariantSpec second = VariantSpec::parse(shared->second);
  EXPECT_TRUE(key.dtypes.empty());
  EXPECT_EQ(first.constants, key.constants);
  EXPECT_EQ(second.constants, key.constants);
  EXPECT_NE(first.dtypes, second.dtypes);
  EXPECT_GE(shared->exposed.size(), 2u);
  for (const std::string& exposed : shared->exposed)
    EXPECT_TRUE(exposed.starts_with(kernel_.entry_point + "(")) << exposed;
  EXPECT_TRUE(has(faults_of(audit, kernel_.name),
                  "the key leaves out what the module depends on: text, toolchain, version, "
                  "architecture, options"));
}

TEST_P(AuditOfEachKernelTest, AnySingleDtypeMissingFromTheKeyIsNamed) {
  for (const std::string& axis : axes_) {
    const auto erased = [&](const VariantSpec& spec) {
      VariantSpec less = spec;
      if (spec.kernel == kernel_.name) erase_axis(less.dtypes, axis);
      return less;
    };
    const KeyAudit by_spec =
        audit_of(kernel_, [&](const VariantSpec& spec, const Digest&, const ToolchainIdentity& id) {
          return ModuleKey{erased(spec), {}, id};
        });
    EXPECT_TRUE(has(faults_of(by_spec, kernel_.name), "two specs have one key")) << axis;
    // The text's digest still tells these apart, but no name in a report does.
    const KeyAudit by_name = audit_of(
        kernel_, [&](const VariantSpec& spec, const Digest& text, const ToolchainIdentity& id) {
          return ModuleKey{erased(spec), text, id};
        });
    EXPECT_TRUE(has(faults_of(by_name, kernel_.name), "two specs have one name")) << axis;
  }
}

TEST_P(AuditOfEachKernelTest, ASpecThatForgetsADtypeIsNamed) {
  for (const std::string& axis : axes_) {
    const KernelSpec forgetful =
        with_specs(kernel_, [&](VariantSpec& spec) { erase_axis(spec.dtypes, axis); });
    const KeyAudit audit = audit_of(forgetful, sound_key);
    EXPECT_TRUE(has(faults_of(audit, kernel_.name), "the spec is not what was asked for")) << axis;
    EXPECT_LT(audit.kernels[0].keys, audit.kernels[0].variants) << axis;
  }
}

// Specs that still differ from each other, and are all wrong: of two axes, or of one axis' values.
TEST_P(AuditOfEachKernelTest, ASpecThatSwapsTwoDtypesIsNamed) {
  const KernelSpec swapping = with_specs(kernel_, [](VariantSpec& spec) {
    if (spec.dtypes.empty()) return;
    Dtype& first = spec.dtypes.front().second;
    if (spec.dtypes.size() > 1)
      std::swap(first, spec.dtypes.back().second);
    else
      first = first == Dtype::f16 ? Dtype::bf16 : first == Dtype::bf16 ? Dtype::f16 : first;
  });
  EXPECT_TRUE(has(faults_of(audit_of(swapping, sound_key), kernel_.name),
                  "the spec is not what was asked for"));
}

TEST_P(AuditOfEachKernelTest, ASpecThatForgetsOrFreezesAConstantIsNamed) {
  const KernelSpec& kernel = registry()[GetParam()];
  const std::vector<LaunchVariant> all = kernel.variants();
  for (std::size_t i = 0; i < all.front().asked.constants.size(); ++i) {
    const std::string& name = all.front().asked.constants[i].first;
    const auto forgets = [&](VariantSpec& spec) {
      if (spec.kernel == kernel.name)
        spec.constants.erase(spec.constants.begin() + static_cast<std::ptrdiff_t>(i));
    };
    const auto freezes = [&](VariantSpec& spec) {
      if (spec.kernel == kernel.name) spec.constants[i] = all.front().spec.constants[i];
    };
    for (const auto& fault :
         {std::function<void(VariantSpec&)>(forgets), std::function<void(VariantSpec&)>(freezes)})
      EXPECT_TRUE(
          has(faults_of(audit_of(with_specs(one_dtype(kernel), fault), sound_key), kernel.name),
              "the spec is not what was asked for"))
          << name;
  }
}

// D8: hit exactly when the code would be equal.
TEST_P(AuditOfEachKernelTest, APartOfTheToolchainMissingFromTheKeyIsNamed) {
  const std::vector<std::pair<std::string, std::function<void(ToolchainIdentity&)>>> parts = {
      {"toolchain", [](ToolchainIdentity& id) { id.name.clear(); }},
      {"version", [](ToolchainIdentity& id) { id.version.clear(); }},
      {"architecture", [](ToolchainIdentity& id) { id.architecture.clear(); }},
      {"options", [](ToolchainIdentity& id) { id.options.clear(); }}};
  for (const auto& [part, leave_out] : parts) {
    const KeyAudit audit = audit_of(
        kernel_, [&](const VariantSpec& spec, const Digest& text, ToolchainIdentity toolchain) {
          leave_out(toolchain);
          return ModuleKey{spec, text, toolchain};
        });
    EXPECT_EQ(faults_of(audit, kernel_.name),
              std::vector<std::string>{"the key leaves out what the module depends on: " + part});
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, AuditOfEachKernelTest,
                         ::testing::Range(std::size_t{0}, registry().size()),
                         [](const auto& at) { return registry()[at.param].name; });

// D8: a random value in the key, so that it never hits.
TEST(AuditTest, AKeyThatNeverHitsIsNamed) {
  const KernelSpec kernel = narrowed(registry().back());
  int calls = 0;
  const KeyAudit audit = audit_of(
      kernel, [&](const VariantSpec& spec, const Digest& text, ToolchainIdentity toolchain) {
        toolchain.version += std::to_string(++calls);
        return ModuleKey{spec, text, toolchain};
      });
  EXPECT_TRUE(has(faults_of(audit, kernel.name), "a module that is asked for again"));
}

TEST(AuditTest, AModuleThatTwoKernelsLaunchExposesBoth) {
  std::vector<KernelSpec> kernels;
  for (const KernelSpec& kernel : registry()) kernels.push_back(narrowed(kernel));
  const KeyAudit audit = audit_keys(
      kernels, kToolchains,
      [](const VariantSpec& spec, const Digest& text, const ToolchainIdentity& toolchain) {
        return make_module_key(spec, text, toolchain, {.weak_module_key = true});
      });
  const auto merge = std::ranges::find(audit.faults, "split_kv_merge", &KeyFault::kernel);
  ASSERT_NE(merge, audit.faults.end());
  EXPECT_TRUE(has(merge->exposed, "parity::split_kv_merge(v="));
  EXPECT_TRUE(has(merge->exposed, "parity::paged_decode_v2, through split_kv_merge(v=f32,"));
}

TEST(AuditTest, AKernelWithoutVariantsIsRefusedByName) {
  KernelSpec kernel = registry().front();
  kernel.variants = {};
  const std::string message = message_of([&] { audit_of(kernel, sound_key); });
  EXPECT_NE(message.find("'" + kernel.name + "' has no variants"), std::string::npos) << message;
}

TEST(RequireVariantsTest, EveryCasesModulesAreAmongTheVariants) {
  EXPECT_NO_THROW(require_variants(registry()));
}

TEST(RequireVariantsTest, AVariantThatACaseLaunchesButNobodyListsIsNamed) {
  std::vector<KernelSpec> kernels = {narrowed(registry().front())};
  const std::string message = message_of([&] { require_variants(kernels); });
  EXPECT_NE(message.find(kernels[0].name + "' lack " + kernels[0].name + "<"), std::string::npos)
      << message;
}

TEST(RequireVariantsTest, ADtypeAxisThatVariantsDoNotNameIsNamed) {
  KernelSpec kernel = registry().front();
  kernel.variants = [all = kernel.variants] {
    std::vector<LaunchVariant> variants = all();
    for (LaunchVariant& variant : variants) erase_axis(variant.asked.dtypes, "k");
    return variants;
  };
  const std::string message = message_of([&] { require_variants({&kernel, 1}); });
  EXPECT_NE(message.find("do not name its dtype k"), std::string::npos) << message;
}

/// Whatever the launch function takes is enumerated, not what this test believes of it.
TEST(LaunchVariantTest, HeadDimsAndDtypesAreThoseThatAreNotRefused) {
  const auto odd = accepted(one_to(9), [](std::int64_t value) {
    if (value % 2 == 0) throw UsageError("even");
  });
  EXPECT_EQ(odd, (std::vector<std::int64_t>{1, 3, 5, 7, 9}));
  EXPECT_EQ(all_dtypes().size(), 10u);
  EXPECT_EQ(parse_dtype("u64"), all_dtypes().back());
  EXPECT_EQ(registry().front().variants().size(), 5u * 25 * 32 * 6 * 2)
      << "q and out: five pairs; k and v of five dtypes; D in 8..256; group buckets 1, 2, 4 and 8, "
         "the first two at tiles 4 and 8; with and without softcap";
}

}  // namespace
}  // namespace parity
