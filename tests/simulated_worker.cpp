// The simulation behind the tests of investigations.
#include "simulated_worker.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <sstream>

namespace parity {
namespace {

const KernelSpec& simulated_kernel() {
  static const KernelSpec kernel = [] {
    const std::vector<Dtype> values = {Dtype::f32, Dtype::f16, Dtype::bf16};
    KernelSpec spec;
    spec.name = "simulated";
    spec.operation = "simulated";
    spec.dtypes = {{"q", values}, {"k", values}, {"v", values}};
    spec.constants = {{"d", {64, 128}, false}};
    spec.recipes = {"ragged"};
    spec.entry_point = "parity::simulated";
    return spec;
  }();
  return kernel;
}

const TensorType kOutputType{Dtype::f32, {1, 4}};

Tensor filled(const TensorType& type, double first, double factor) {
  Tensor tensor(type);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    tensor.set(i, (first + static_cast<double>(i)) * factor);
  return tensor;
}

}  // namespace

SimulatedSuite::SimulatedSuite(std::size_t count) {
  const KernelSpec& spec = simulated_kernel();
  const std::vector<Dtype>& values = spec.dtypes.front().values;
  for (std::size_t i = 0; i < count; ++i) {
    Case c;
    c.spec = &spec;
    c.dtypes = {values[i / 9 % 3], values[i / 3 % 3], values[i % 3]};
    c.constants = {64 * static_cast<std::int64_t>(i / 27 + 1)};
    c.recipe = "ragged";
    ids_.push_back(c.id());
    dtypes_.push_back(
        fmt::format("q={},k={},v={}", name(c.dtypes[0]), name(c.dtypes[1]), name(c.dtypes[2])));
    cases_.push_back(c);
  }
}

Judge SimulatedSuite::judge() const {
  std::vector<PackCase> pack;
  for (const Case& c : cases_) {
    PackCase pack_case;
    pack_case.id = c.id();
    PackOutput output;
    output.name = "out";
    output.type = kOutputType;
    const TensorType wide{Dtype::f64, kOutputType.shape};
    output.expected = filled(wide, 1, 1);
    output.bound = filled(wide, 1e-5, 0);
    for (std::int64_t i = 0; i < output.bound->elements(); ++i) output.bound->set(i, 1e-4);
    pack_case.outputs.push_back(std::move(output));
    pack.push_back(std::move(pack_case));
  }
  return Judge(std::move(pack), *this);
}

OutputDigest SimulatedSuite::write(Answer answer, std::size_t variant) {
  const auto [known, is_new] = written_.try_emplace({answer, variant});
  if (!is_new) return known->second;
  double factor = 1;
  if (answer == Answer::drifted || answer == Answer::timed_plan) factor += std::ldexp(1, -21);
  if (answer == Answer::wrong) factor = 2 + static_cast<double>(variant);
  Tensor tensor = filled(kOutputType, 1, factor);
  const Digest content = digest(tensor);
  blobs_.insert_or_assign(content, std::move(tensor));
  return known->second = {"out", content};
}

Tensor SimulatedSuite::read(const TensorType&, const Digest& digest) const {
  return blobs_.at(digest);
}

SimulatedWorker::SimulatedWorker(SimulatedSuite& suite, Leak leak)
    : suite_(suite), leak_(std::move(leak)) {}

std::vector<SequenceResult> SimulatedWorker::execute(std::span<const Sequence> sequences) {
  std::vector<SequenceResult> results;
  for (const Sequence& sequence : sequences) {
    SequenceResult& result = results.emplace_back();
    Process process;
    process.dead = stopped_;
    sequences_ += stopped_ ? 0 : 1;
    for (const StepGroup& group : sequence.groups()) run_group(process, sequence, group, result);
  }
  return results;
}

/// Whoever ends the process takes all of the group along.
void SimulatedWorker::run_group(Process& process, const Sequence& sequence, const StepGroup& group,
                                SequenceResult& result) {
  const bool was_dead = process.dead;
  Order ran;
  for (std::size_t i = group.begin; i < group.end; ++i) {
    const Step& one = sequence.steps[i];
    Order company;
    for (std::size_t other = group.begin; other < group.end; ++other)
      if (other != i) company.push_back(sequence.steps[other].case_index);
    const auto poison = static_cast<unsigned>((i + sequence.poison_phase) % 2);
    Outcome outcome;
    if (!was_dead)
      outcome = one.kind == Step::Kind::run ? run(process, one.case_index, poison, company,
                                                  sequence.patience * group.size())
                                            : step(process, one, result);
    if (one.kind == Step::Kind::run) ran.push_back(one.case_index);
    result.outcomes.push_back(std::move(outcome));
  }
  process.before.insert(process.before.end(), ran.begin(), ran.end());
  if (was_dead || !process.dead) return;
  const auto outcomes = std::span(result.outcomes).last(group.size());
  const auto end = std::ranges::find_if(outcomes, [](const Outcome& outcome) {
    return outcome.status == Status::crashed || outcome.status == Status::timed_out;
  });
  const Outcome how = *end;
  std::ranges::fill(outcomes, how);
}

Outcome SimulatedWorker::step(Process& process, const Step& step, SequenceResult& result) {
  const bool is_leak = !leak_carrier.empty() && step.carrier == leak_carrier;
  Outcome outcome;
  outcome.status = Status::ok;
  switch (step.kind) {
    case Step::Kind::run:
      break;
    case Step::Kind::restore:
      if (is_leak || module_cache_in_leak) process.before.clear();
      if (!is_leak) process.modules.clear();
      break;
    case Step::Kind::snapshot: {
      std::string state;
      if (is_leak)
        for (const std::size_t c : process.before) state += fmt::format("{}\n", c);
      else
        for (const auto& [cell, entry] : process.modules)
          state += fmt::format("{} {}\n", cell, entry.builder);
      result.snapshots.push_back({step.carrier, state});
      break;
    }
    case Step::Kind::set: {
      std::istringstream state(step.state);
      std::string cell;
      std::size_t index = 0;
      if (is_leak) {
        process.before.clear();
        while (state >> index) process.before.push_back(index);
      } else {
        process.modules.clear();
        while (state >> cell >> index) process.modules[cell] = {index};
      }
      break;
    }
  }
  return outcome;
}

Outcome SimulatedWorker::run(Process& process, std::size_t case_index, unsigned poison,
                             const Order& company, std::size_t limit) {
  ++executions_;
  const std::string& dtypes = suite_.dtypes(case_index);
  std::string cell = fmt::format("simulated<d={}>", suite_.cases()[case_index].constants[0]);
  if (!weak_keys) cell += "(" + dtypes + ")";
  const auto [module, built] = process.modules.try_emplace(cell, Entry{case_index});
  const std::size_t builder = module->second.builder;

  const SimulatedRun seen{process.before, case_index, poison, calls_++, company, limit};
  Answer answer = leak_(seen);
  const std::string& built_for = suite_.dtypes(builder);
  if (built_for != dtypes) answer = misuse_crashes ? Answer::crash : Answer::wrong;

  Outcome outcome;
  outcome.status = Status::ok;
  outcome.timed_plan = answer == Answer::timed_plan;
  const bool other_plan = answer == Answer::other_plan || outcome.timed_plan;
  outcome.plan = other_plan ? "threads=256" : "threads=128";
  if (answer == Answer::crash || answer == Answer::hang) {
    outcome.status = answer == Answer::crash ? Status::crashed : Status::timed_out;
    outcome.detail = answer == Answer::crash ? "signal 11" : "no answer";
    process.dead = true;
    return outcome;
  }
  if (probed)
    outcome.cells.push_back({"module_cache", cell, built, built_for, dtypes, suite_.id(builder)});
  if (probed && leak_probe)
    if (const std::optional<CellSeen> leaked = leak_probe(seen)) outcome.cells.push_back(*leaked);
  if (answer == Answer::refused) {
    outcome.status = Status::error;
    outcome.detail = "refused";
    return outcome;
  }
  outcome.unwritten = answer == Answer::unwritten ? 1 : 0;
  outcome.outputs.push_back(suite_.write(answer, builder));
  return outcome;
}

bool by_chance(double p, std::size_t execution, std::uint64_t seed) {
  const std::uint64_t hash = stable_hash(fmt::format("{}/{}", seed, execution));
  return static_cast<double>(hash) < p * 18446744073709551616.0;
}

std::vector<Sequence> tuscan_plan(std::size_t cases) {
  std::vector<std::size_t> group_of(cases);
  for (std::size_t i = 0; i < cases; ++i) group_of[i] = i % 27;
  std::vector<Sequence> plan;
  for (const Order& order : schedule_rows(tuscan_rows(cases), group_of))
    plan.push_back(Sequence::of(order, static_cast<unsigned>(plan.size() % 2)));
  return plan;
}

Investigation investigate_plan(const SimulatedSuite& suite, SimulatedWorker& worker,
                               const std::vector<Sequence>& plan) {
  const std::vector<SequenceResult> results = worker.execute(plan);
  worker.reset_counts();
  Judge judge = suite.judge();
  InvestigateOptions options;
  options.replay_suffix = " --plant simulated";
  return investigate(suite.cases(), plan, results, judge, worker, options);
}

bool has(const Order& order, std::size_t c) {
  return std::find(order.begin(), order.end(), c) != order.end();
}

Leak leak(std::size_t victim, Answer answer, std::function<bool(const Order&)> when) {
  return [=](const SimulatedRun& run) {
    return run.case_index == victim && when(run.before) ? answer : Answer::right;
  };
}

std::vector<std::string> ids(const SimulatedSuite& suite, const Order& order) {
  std::vector<std::string> result;
  for (std::size_t c : order) result.push_back(suite.id(c));
  return result;
}

Finding only_finding(Leak leak, SimulatedSuite& suite) {
  SimulatedWorker worker(suite, std::move(leak));
  const Investigation investigation = investigate_tuscan(suite, worker);
  EXPECT_EQ(investigation.findings.size(), 1u);
  return investigation.findings.empty() ? Finding{} : investigation.findings.front();
}

}  // namespace parity
