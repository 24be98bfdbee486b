// harness golden: writing golden data, computing it again, and telling two files apart.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/case.hpp"
#include "harness/commands.hpp"
#include "harness/golden.hpp"
#include "harness/interrupt.hpp"
#include "harness/pack_builder.hpp"
#include "harness/paths.hpp"
#include "harness/progress.hpp"
#include "harness/writable.hpp"

namespace parity {
namespace {

namespace fs = std::filesystem;

constexpr int kDiffers = 1;
constexpr const char* kAdvice = "take a sound copy, or write it anew (harness golden regenerate)";

PackReader open_golden(const fs::path& path) {
  return PackReader(path, kAdvice);
}

void require_not_stopped(const Interrupt& interrupt, const char* what) {
  if (interrupt.requested()) throw DatasetError(fmt::format("stopped: {}; run it again", what));
}

/// Takes the place of no device, pipe or folder, and of a link's target rather than of the link.
fs::path writable(const fs::path& out) {
  std::error_code failed;
  const fs::path target = fs::is_symlink(out, failed) ? fs::weakly_canonical(out, failed) : out;
  if (fs::exists(target, failed) && !fs::is_regular_file(target, failed) &&
      !fs::is_directory(target, failed))
    throw UsageError(
        fmt::format("--out {}: is no regular file; name a file or a new one", out.string()));
  check_writable("--out", target);
  return target;
}

int regenerate(const Options& options) {
  const std::vector<Case> cases = select(suite_cases(registry(), options.suite), options.filters);
  const fs::path out = writable(options.golden_files.front());
  const Interrupt interrupt;
  Progress progress;
  progress.phase("computing cases");
  PackWriter writer(out, {build_id(), std::string(kReferenceVersion)});
  std::size_t done = 0;
  build_cases(cases, build_case, [&](PackCase pack_case) {
    require_not_stopped(interrupt, "nothing was written, an older file is intact");
    if (!options.store_inputs)
      for (PackInput& input : pack_case.inputs) input.data.reset();
    writer.add(pack_case);
    progress.update(++done, cases.size());
  });
  writer.commit();
  progress.finish();
  fmt::print("wrote {} cases, {} bytes, to {}\n", cases.size(), fs::file_size(out), out.string());
  return 0;
}

/// Cases of this program, and of the others why they are none.
std::vector<Case> known_cases(const std::vector<std::string>& ids,
                              std::map<std::string, std::string>& unknown) {
  std::vector<Case> cases;
  for (const std::string& id : ids) {
    try {
      const Case c = parse_case(registry(), id);
      require_valid(c);
      cases.push_back(c);
    } catch (const UsageError& error) {
      unknown.emplace(id, error.what());
    }
  }
  return cases;
}

void print_case(const std::string& id, const std::vector<std::string>& lines) {
  if (!lines.empty()) fmt::print("{}\n", id);
  for (const std::string& line : lines) fmt::print("   {}\n", line);
}

int verify(const Options& options) {
  const fs::path& path = options.golden_files.front();
  const PackReader pack = open_golden(path);
  const std::vector<std::string> ids =
      sample_of(pack.ids(), options.golden_sample.value_or(pack.ids().size()), options.seed);
  if (ids.empty())
    throw UsageError(fmt::format("{} holds no case: nothing was verified", path.string()));
  if (options.golden_sample)
    fmt::print("sample of {} of {} cases, seed {}\n", ids.size(), pack.ids().size(), options.seed);

  const Interrupt interrupt;
  Progress progress;
  std::map<std::string, std::string> unknown;
  const std::vector<Case> cases = known_cases(ids, unknown);
  for (const auto& [id, why] : unknown) print_case(id, {"no case of this program: " + why});
  std::size_t different = unknown.size();
  std::size_t done = unknown.size();
  progress.phase("computing cases again");
  build_cases(cases, compute_case, [&](const PackCase& computed) {
    require_not_stopped(interrupt, "not every case was verified");
    const std::vector<std::string> lines = verify_case(pack.read(computed.id), computed);
    different += lines.empty() ? 0 : 1;
    if (!lines.empty()) progress.finish();
    print_case(computed.id, lines);
    progress.update(++done, ids.size(), different);
  });
  progress.finish();
  if (different == 0) {
    fmt::print("{} of {} cases verified: inputs bit for bit, expected outputs to {:g}\n",
               ids.size(), ids.size(), kGoldenTolerance);
    return 0;
  }
  fmt::print("{} of {} cases differ; if that is meant, harness golden regenerate\n", different,
             ids.size());
  return kDiffers;
}

int diff(const Options& options) {
  const PackReader a = open_golden(options.golden_files.at(0));
  const PackReader b = open_golden(options.golden_files.at(1));
  fmt::print("A  {}\nB  {}\n", options.golden_files[0].string(), options.golden_files[1].string());
  if (a.provenance().build != b.provenance().build)
    fmt::print("written by two builds: {} and {}\n", a.provenance().build, b.provenance().build);
  const std::set<std::string> in_a(a.ids().begin(), a.ids().end());
  const std::set<std::string> in_b(b.ids().begin(), b.ids().end());
  std::size_t both = 0;
  std::size_t different = 0;
  for (const std::string& id : a.ids()) {
    if (!in_b.contains(id)) continue;
    ++both;
    const std::vector<std::string> lines = diff_cases(a.read(id), b.read(id));
    different += lines.empty() ? 0 : 1;
    print_case(id, lines);
  }
  const std::size_t only_a = a.ids().size() - both;
  const std::size_t only_b = b.ids().size() - both;
  for (const std::string& id : a.ids())
    if (!in_b.contains(id)) fmt::print("only in A  {}\n", id);
  for (const std::string& id : b.ids())
    if (!in_a.contains(id)) fmt::print("only in B  {}\n", id);
  const bool other_order = only_a + only_b == 0 && a.ids() != b.ids();
  if (other_order) fmt::print("the same cases in another order\n");
  fmt::print("{} of {} cases differ, {} only in A, {} only in B\n", different, both, only_a,
             only_b);
  return different + only_a + only_b > 0 || other_order ? kDiffers : 0;
}

/// Bytes and counts of tensors, and where each dtype occurs.
struct Contents {
  std::size_t inputs = 0;
  std::size_t input_bytes = 0;
  std::size_t stored = 0;
  std::size_t outputs = 0;
  std::size_t output_bytes = 0;  ///< as kernels write them
  std::size_t expected = 0;
  std::map<std::string, std::size_t> dtypes;
  std::map<std::string, std::size_t> operations;
  std::set<std::string> references;

  void add(const PackCase& pack_case) {
    ++operations[pack_case.operation];
    references.insert(pack_case.reference);
    for (const PackInput& input : pack_case.inputs) {
      ++inputs;
      input_bytes += input.type.bytes();
      stored += input.data ? 1 : 0;
      ++dtypes[std::string(name(input.type.dtype))];
    }
    for (const PackOutput& output : pack_case.outputs) {
      ++outputs;
      output_bytes += output.type.bytes();
      expected += output.expected ? 1 : 0;
      ++dtypes[std::string(name(output.type.dtype))];
    }
  }
};

std::string counts_text(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [word, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, count);
  return text;
}

int info(const Options& options) {
  const PackReader pack = open_golden(options.golden_files.front());
  Contents all;
  std::string lines;
  for (const std::string& id : pack.ids()) {
    const PackCase pack_case = pack.read(id);
    all.add(pack_case);
    Contents one;
    one.add(pack_case);
    lines += fmt::format(
        "case       {}\n           seed {:#018x}, {} inputs of {} bytes, {} outputs of {} bytes\n",
        id, pack_case.seed, one.inputs, one.input_bytes, one.outputs, one.output_bytes);
  }
  std::string references;
  for (const std::string& version : all.references)
    references += (references.empty() ? "" : ", ") + version;
  fmt::print("file       {}\nbytes      {}\nschema     {}\ndigest     {}\nbuild      {}\n",
             options.golden_files.front().string(), pack.bytes(), kPackSchema, pack.seal().hex(),
             pack.provenance().build);
  fmt::print("reference  {}\ncases      {}\noperations {}\ndtypes     {}\n", references,
             pack.ids().size(), counts_text(all.operations), counts_text(all.dtypes));
  fmt::print("inputs     {} of {} bytes, {} stored, {} by recipe and digest\n", all.inputs,
             all.input_bytes, all.stored, all.inputs - all.stored);
  fmt::print("outputs    {} of {} bytes, {} with expected values\n{}", all.outputs,
             all.output_bytes, all.expected, lines);
  return 0;
}

}  // namespace

int golden_command(const Options& options) {
  switch (options.golden) {
    case GoldenAction::regenerate:
      return regenerate(options);
    case GoldenAction::verify:
      return verify(options);
    case GoldenAction::diff:
      return diff(options);
    case GoldenAction::info:
      return info(options);
  }
  return kDiffers;
}

}  // namespace parity
