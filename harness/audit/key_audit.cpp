// Collects what launch functions can ask for, then makes keys and compares.
#include "harness/audit/key_audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/kernel_text.hpp"
#include "harness/case.hpp"
#include "harness/kernels/launch_variant.hpp"

namespace parity {
namespace {

/// One spec, and all who ask for it.
struct Asked {
  std::set<VariantSpec> choices;
  std::set<std::size_t> kernels;
  std::vector<std::string> exposed;  ///< in the kernels' order
};
using Modules = std::map<VariantSpec, Asked>;

/// "parity::paged_decode_v2(q=f32,k=f16,v=f32)"; of a module that another kernel owns:
/// "parity::paged_decode_v2, through split_kv_merge(v=f32,out=f16)".
std::string exposed(const KernelSpec& kernel, const LaunchVariant& variant) {
  const std::string through =
      variant.spec.kernel == kernel.name ? "" : ", through " + variant.spec.kernel;
  return fmt::format("{}{}({})", kernel.entry_point, through, variant.asked.dtype_text());
}

/// Faults of one kind and kernel are one: counted, and shown at the first.
class Faults {
 public:
  void add(KeyFault fault) {
    const auto known = std::ranges::find_if(faults_, [&](const KeyFault& other) {
      return other.kernel == fault.kernel && other.what == fault.what;
    });
    KeyFault& first = known == faults_.end() ? faults_.emplace_back(std::move(fault)) : *known;
    ++first.keys;
  }
  const std::vector<KeyFault>& all() const { return faults_; }

 private:
  std::vector<KeyFault> faults_;
};

/// Every module that the kernels' launch functions can ask for; counts them in `audit`.
Modules modules_of(std::span<const KernelSpec> kernels, KeyAudit& audit) {
  Modules modules;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::vector<LaunchVariant> variants = variants_of(kernels[i]);
    for (const LaunchVariant& variant : variants) {
      Asked& asked = modules[variant.spec];
      asked.choices.insert(variant.asked);
      asked.kernels.insert(i);
      asked.exposed.push_back(exposed(kernels[i], variant));
    }
    audit.kernels.push_back({kernels[i].name, variants.size(), 0});
  }
  return modules;
}

/// The same toolchain but for one thing, in words.
std::vector<std::pair<std::string, ToolchainIdentity>> others(const ToolchainIdentity& toolchain) {
  std::vector<std::pair<std::string, ToolchainIdentity>> all;
  const auto other = [&](const char* what) -> ToolchainIdentity& {
    return all.emplace_back(what, toolchain).second;
  };
  other("toolchain").name += "-other";
  other("version").version += ".1";
  other("architecture").architecture += "x";
  other("options").options.push_back("-other");
  return all;
}

const Digest kOtherText = digest(std::string_view("another text"));

/// A module's key under one toolchain.
struct Keyed {
  const VariantSpec* spec;
  const Asked* asked;
  ModuleKey key;
};
/// By the key's spec: what people, reports and probes call the key by.
using Cells = std::map<VariantSpec, std::vector<Keyed>>;

/// Keys of single modules: each must know all it depends on, and nothing else.
class KeyChecks {
 public:
  KeyChecks(const ToolchainIdentity& toolchain, const MakeKey& make_key, Faults& faults)
      : toolchain_(toolchain), others_(others(toolchain)), make_key_(make_key), faults_(faults) {}

  ModuleKey check(const VariantSpec& spec, const Asked& asked, const Digest& text) {
    ModuleKey key = make_key_(spec, text, toolchain_);
    const auto fault = [&](std::string what, std::string second) {
      faults_.add({spec.kernel, std::move(what), key.spec.canonical(), spec.canonical(),
                   std::move(second), asked.exposed});
    };
    if (make_key_(spec, text, toolchain_) != key)
      fault("a module that is asked for again has another key, so it is never found", "");
    std::string left_out;
    if (make_key_(spec, kOtherText, toolchain_) == key) left_out = ", text";
    for (const auto& [what, other] : others_)
      if (make_key_(spec, text, other) == key) left_out += ", " + what;
    if (!left_out.empty())
      fault("the key leaves out what the module depends on: " + left_out.substr(2),
            spec.canonical() + " with another " + left_out.substr(2));
    return key;
  }

 private:
  const ToolchainIdentity& toolchain_;
  const std::vector<std::pair<std::string, ToolchainIdentity>> others_;
  const MakeKey& make_key_;
  Faults& faults_;
};

void check_cells(const Cells& cells, Faults& faults) {
  for (const auto& [cell, sharing] : cells) {
    if (sharing.size() == 1) continue;
    const Keyed& first = sharing[0];
    const Keyed& second = sharing[1];
    std::vector<std::string> exposed;
    for (const Keyed& keyed : sharing)
      exposed.insert(exposed.end(), keyed.asked->exposed.begin(), keyed.asked->exposed.end());
    faults.add({first.spec->kernel,
                first.key == second.key
                    ? "two specs have one key"
                    : "two specs have one name, and keys that differ in the text's digest alone",
                cell.canonical(), first.spec->canonical(), second.spec->canonical(),
                std::move(exposed)});
  }
}

void check_choices(const Modules& modules, Faults& faults) {
  for (const auto& [spec, asked] : modules) {
    const auto other = std::ranges::find_if(
        asked.choices, [&](const VariantSpec& choice) { return choice != spec; });
    if (other != asked.choices.end())
      faults.add({spec.kernel, "the spec is not what was asked for", spec.canonical(),
                  spec.canonical(), other->canonical(), asked.exposed});
  }
}

/// The rendered text's digest. `bodies`: of the kernels so far.
Digest render_checked(const VariantSpec& spec, const Asked& asked,
                      std::map<std::string, std::string>& bodies, Faults& faults) {
  if (!bodies.contains(spec.kernel)) bodies[spec.kernel] = expand(spec.kernel);
  const std::string text = opening(spec) + bodies[spec.kernel];  // render(spec), in less time
  if (!text.starts_with(fmt::format("// parity module: {}\n", spec.canonical())))
    faults.add({spec.kernel, "the rendered text does not open with the spec", spec.canonical(),
                spec.canonical(), text.substr(0, text.find('\n')), asked.exposed});
  return digest(text);
}

}  // namespace

KeyAudit audit_keys(std::span<const KernelSpec> kernels,
                    std::span<const ToolchainIdentity> toolchains, const MakeKey& make_key) {
  KeyAudit audit;
  const Modules modules = modules_of(kernels, audit);
  Faults between;  // modules; told first
  Faults within;   // one module's key
  check_choices(modules, between);
  std::vector<KeyChecks> checks;
  for (const ToolchainIdentity& toolchain : toolchains)
    checks.emplace_back(toolchain, make_key, within);
  std::vector<Cells> cells(toolchains.size());
  std::vector<std::set<ModuleKey>> keys(kernels.size());
  std::map<std::string, std::string> bodies;
  for (const auto& [spec, asked] : modules) {
    const Digest text = render_checked(spec, asked, bodies, within);
    for (std::size_t i = 0; i < toolchains.size(); ++i) {
      const ModuleKey key = checks[i].check(spec, asked, text);
      cells[i][key.spec].push_back({&spec, &asked, key});
      for (const std::size_t kernel : asked.kernels) keys[kernel].insert(key);
    }
  }
  for (const Cells& under_one : cells) check_cells(under_one, between);
  for (std::size_t i = 0; i < kernels.size(); ++i) audit.kernels[i].keys = keys[i].size();
  audit.faults = between.all();
  audit.faults.insert(audit.faults.end(), within.all().begin(), within.all().end());
  std::ranges::stable_sort(audit.faults, {}, &KeyFault::kernel);
  return audit;
}

void require_variants(std::span<const KernelSpec> kernels) {
  std::map<const KernelSpec*, std::set<VariantSpec>> known;
  for (const KernelSpec& kernel : kernels) {
    std::set<std::string> axes;
    for (const LaunchVariant& variant : variants_of(kernel)) {
      known[&kernel].insert(variant.spec);
      if (variant.spec.kernel == kernel.name)
        for (const auto& [axis, dtype] : variant.asked.dtypes) axes.insert(axis);
    }
    for (const DtypeAxis& axis : kernel.dtypes)
      if (!axes.contains(axis.name))
        throw UsageError(
            fmt::format("the variants of kernel '{}' do not name its dtype {}; give it to each "
                        "in LaunchVariant::asked",
                        kernel.name, axis.name));
  }
  for (const Case& c : suite_cases(kernels, Suite::full))
    for (const VariantSpec& module : c.spec->modules(c))
      if (!known[c.spec].contains(module))
        throw UsageError(fmt::format(
            "the variants of kernel '{}' lack {}, which its case {} launches; enumerate all that "
            "its launch function can ask for",
            c.spec->name, module.canonical(), c.id()));
}

}  // namespace parity
