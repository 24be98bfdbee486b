// From a case to its golden data, refusing cases that cannot tell right from wrong.
#include "harness/pack_builder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "harness/in_jobs.hpp"
#include "harness/judge.hpp"

namespace parity {
namespace {

/// A wrong answer must be this many tolerances off, in some row of some output.
constexpr double kRejectedAt = 4.0;
/// Raised whenever the same cases and build would give another pack.
constexpr int kBuilderVersion = 1;

using WrongAnswer = std::pair<std::string, TensorList>;

[[noreturn]] void refuse(const Case& c, const std::string& why) {
  throw UsageError(fmt::format("case '{}' is refused: {}", c.id(), why));
}

/// As a kernel would store it: each element rounded once.
Tensor rounded(const TensorType& type, const Tensor& answer) {
  Tensor result(type);
  for (std::int64_t i = 0; i < result.elements(); ++i) result.set(i, answer.at(i));
  return result;
}

Tensor scaled(const Tensor& answer, double factor) {
  Tensor result(answer.type());
  if (factor == 0) return result;  // also where the answer is not finite
  for (std::int64_t i = 0; i < result.elements(); ++i) result.set(i, answer.at(i) * factor);
  return result;
}

/// Of every output judged by rows, each alone, so that no other output can do the rejecting for it.
std::vector<WrongAnswer> generic_wrong_answers(const std::vector<PackOutput>& outputs) {
  std::vector<WrongAnswer> answers;
  for (const PackOutput& output : outputs) {
    if (output.rule != OutputRule::rows) continue;
    answers.push_back({output.name + " all zero", {{output.name, scaled(*output.expected, 0)}}});
    answers.push_back({output.name + " x 1.05", {{output.name, scaled(*output.expected, 1.05)}}});
  }
  return answers;
}

/// How many tolerances the answer's worst row is off.
double worst_violation(const std::vector<PackOutput>& outputs, const WrongAnswer& answer) {
  double worst = 0;
  for (const auto& [name, tensor] : answer.second) {
    const auto output = std::find_if(outputs.begin(), outputs.end(),
                                     [&, &wanted = name](auto& o) { return o.name == wanted; });
    if (output == outputs.end() || tensor.elements() != output->type.elements())
      throw UsageError(
          fmt::format("wrong answer '{}': '{}' with {} elements is no output of the case",
                      answer.first, name, tensor.elements()));
    worst = std::max(worst, violation(*output, rounded(output->type, tensor)));
  }
  return worst;
}

void require_declared_outputs(const Case& c, const std::vector<PackOutput>& outputs) {
  const std::vector<PackOutput> declared = c.spec->outputs(c);
  const bool equal = std::equal(declared.begin(), declared.end(), outputs.begin(), outputs.end(),
                                [](const PackOutput& a, const PackOutput& b) {
                                  return a.name == b.name && a.type == b.type && a.rule == b.rule;
                                });
  if (!equal) refuse(c, "its reference does not return the outputs that its spec declares");
}

/// The best answer there can be must pass, or no kernel ever does.
void require_rounded_answer_passes(const Case& c, const std::vector<PackOutput>& outputs) {
  for (const PackOutput& output : outputs) {
    const Judgement judgement = judge_output(output, rounded(output.type, *output.expected));
    if (judgement.verdict == Verdict::failed)
      refuse(c, fmt::format("the correctly rounded answer itself fails: {}", judgement.detail));
  }
}

void require_wrong_answers_fail(const Case& c, const ReferenceResult& reference) {
  std::vector<WrongAnswer> answers = generic_wrong_answers(reference.outputs);
  answers.insert(answers.end(), reference.wrong_answers.begin(), reference.wrong_answers.end());
  for (const WrongAnswer& answer : answers) {
    const double off = worst_violation(reference.outputs, answer);
    if (!(off >= kRejectedAt))
      refuse(c, fmt::format("the wrong answer '{}' is only {:.3g} tolerances off where {:g} are "
                            "needed; change shapes or recipe, or declare the recipe degenerate",
                            answer.first, off, kRejectedAt));
  }
}

std::vector<PackCase> build_together(std::span<const Case> cases,
                                     const std::function<PackCase(const Case&)>& build) {
  std::vector<PackCase> built(cases.size());
  std::vector<std::exception_ptr> failed(cases.size());
  in_jobs(std::thread::hardware_concurrency(), cases.size(), [&](const auto& next) {
    for (auto i = next(); i; i = next()) {
      try {
        built[*i] = build(cases[*i]);
      } catch (...) {
        failed[*i] = std::current_exception();
      }
    }
  });
  for (const std::exception_ptr& failure : failed)
    if (failure) std::rethrow_exception(failure);
  return built;
}

PackCase without_answers(PackCase pack_case) {
  for (PackOutput& output : pack_case.outputs) {
    output.expected.reset();
    output.bound.reset();
  }
  return pack_case;
}

/// Reads through a pack that is there and must hold exactly `ids`: damage that a worker met first
/// would be taken for the kernel's fault.
void require_sound(const std::filesystem::path& path, const std::vector<std::string>& ids) {
  const PackReader pack(path);
  if (pack.ids() != ids)
    throw DatasetError(fmt::format(
        "pack '{}' holds other cases than its name says; remove it so that it is written again",
        path.string()));
  for (const std::string& id : ids) pack.read(id);
}

}  // namespace

namespace {

/// `admit` may refuse what the reference says.
PackCase compute(const Case& c, const std::function<void(const ReferenceResult&)>& admit) {
  require_valid(c);
  PackCase pack_case;
  pack_case.id = c.id();
  pack_case.operation = c.spec->operation;
  pack_case.recipe = c.recipe;
  pack_case.seed = c.data_seed();
  pack_case.reference = kReferenceVersion;
  TensorList inputs = c.spec->inputs(c);
  ReferenceResult reference = c.spec->reference(c, inputs);
  admit(reference);
  for (NamedTensor& input : inputs)
    pack_case.inputs.push_back({.name = std::move(input.name),
                                .type = input.tensor.type(),
                                .digest = digest(input.tensor),
                                .data = std::move(input.tensor)});
  pack_case.outputs = std::move(reference.outputs);
  return pack_case;
}

}  // namespace

PackCase compute_case(const Case& c) {
  return compute(c, [](const ReferenceResult&) {});
}

PackCase build_case(const Case& c) {
  return compute(c, [&](const ReferenceResult& reference) {
    if (!reference.refused.empty()) refuse(c, reference.refused);
    require_declared_outputs(c, reference.outputs);
    require_rounded_answer_passes(c, reference.outputs);
    if (!c.degenerate()) require_wrong_answers_fail(c, reference);
  });
}

void build_cases(std::span<const Case> cases, const std::function<PackCase(const Case&)>& build,
                 const std::function<void(PackCase)>& take) {
  const std::size_t at_once = 2 * std::max(1u, std::thread::hardware_concurrency());
  while (!cases.empty()) {
    const auto batch = cases.first(std::min(at_once, cases.size()));
    for (PackCase& pack_case : build_together(batch, build)) take(std::move(pack_case));
    cases = cases.subspan(batch.size());
  }
}

PackPaths ensure_packs(std::span<const Case> cases, const std::filesystem::path& folder,
                       const Provenance& provenance, const std::function<void(std::size_t)>& made) {
  std::vector<std::string> ids;
  for (const Case& c : cases) ids.push_back(c.id());
  const std::string stem =
      digest(fmt::format("parity packs {}\n{}\n{}\n{}", kBuilderVersion, provenance.build,
                         provenance.reference, fmt::join(ids, "\n")))
          .hex();
  const PackPaths paths{folder / (stem + ".golden.h5"), folder / (stem + ".inputs.h5")};
  if (std::filesystem::exists(paths.golden) && std::filesystem::exists(paths.inputs)) {
    require_sound(paths.golden, ids);
    require_sound(paths.inputs, ids);
    return paths;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw DatasetError(
        fmt::format("cannot make the pack folder {}: {}; make it, or set PARITY_HOME",
                    folder.string(), error.message()));
  PackWriter golden(paths.golden, provenance);
  PackWriter inputs(paths.inputs, provenance);
  std::size_t done = 0;
  build_cases(cases, build_case, [&](PackCase pack_case) {
    golden.add(pack_case);
    inputs.add(without_answers(std::move(pack_case)));
    if (made) made(++done);
  });
  golden.commit();
  inputs.commit();
  return paths;
}

}  // namespace parity
