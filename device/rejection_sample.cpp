// Arguments to module key, workspace and launches of rejection_sample.
#include "device/rejection_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "datasets/errors.hpp"
#include "device/argument_checks.hpp"
#include "device/kernels/rejection_sample_params.cuh"
#include "device/planted_draw.hpp"

namespace parity {
namespace {

constexpr std::string_view kWho = "rejection_sample";
/// Rounds that all blocks of a row take part in. Few rows need more; what they need is done by one
/// block.
constexpr unsigned kSplitRounds = 4;
/// What a load of several elements needs.
constexpr std::uintptr_t kAlignment = 16;
static_assert(kRejectionSampleMostSplits == kMostSamplerSplits);

constexpr Refuse refuse{kWho};

void check_shape(const RejectionSampleArgs& args) {
  check_float(kWho, "probs", args.probs);
  const Shape& probs = args.probs.type.shape;
  if (probs.size() != 2)
    refuse("probs is {}, but must be [rows, vocabulary]", args.probs.type.to_string());
  if (probs[1] < 1 || probs[1] > kMostRejectionVocabulary)
    refuse("the vocabulary of probs is {}, but must be 1 to {}", probs[1],
           kMostRejectionVocabulary);
  constexpr std::int64_t kMostRows = std::numeric_limits<std::int32_t>::max() / kMostSamplerSplits;
  if (probs[0] > kMostRows) refuse("probs has {} rows, but may have {}", probs[0], kMostRows);
  if (args.splits < 0 || args.splits > kMostSamplerSplits)
    refuse("splits is {}, but must be 1 to {}, or {} to have it chosen", args.splits,
           kMostSamplerSplits, kAutoSamplerSplits);
}

void check_tensors(const RejectionSampleArgs& args) {
  const std::int64_t rows = args.probs.type.shape[0];
  check_tensor(kWho, "probs", args.probs, args.probs.type, kAlignment);
  if (args.draw) check_tensor(kWho, "draw", *args.draw, args.probs.type, kAlignment);
  check_float(kWho, "top_p", args.top_p);
  const Dtype filter = args.top_p.type.dtype;
  check_tensor(kWho, "top_k", args.top_k, {Dtype::i32, {rows}}, 4);
  check_tensor(kWho, "top_p", args.top_p, {filter, {rows}}, size_of(filter));
  check_tensor(kWho, "min_p", args.min_p, {filter, {rows}}, size_of(filter));
  check_tensor(kWho, "seed", args.seed, {Dtype::u64, {rows}}, 8);
  check_tensor(kWho, "step", args.step, {Dtype::u64, {rows}}, 8);
  check_tensor(kWho, "token", args.token, {Dtype::i32, {rows}}, 4);
  check_tensor(kWho, "ok", args.ok, {Dtype::u8, {rows}}, 1);
  check_tensor(kWho, "rounds", args.rounds, {Dtype::i32, {rows}}, 4);
  std::vector<ArgumentMemory> inputs = {
      ArgumentMemory::of("probs", args.probs), ArgumentMemory::of("top_k", args.top_k),
      ArgumentMemory::of("top_p", args.top_p), ArgumentMemory::of("min_p", args.min_p),
      ArgumentMemory::of("seed", args.seed),   ArgumentMemory::of("step", args.step)};
  if (args.draw) inputs.push_back(ArgumentMemory::of("draw", *args.draw));
  check_apart(kWho,
              {ArgumentMemory::of("token", args.token), ArgumentMemory::of("ok", args.ok),
               ArgumentMemory::of("rounds", args.rounds)},
              inputs);
}

/// Digits that can tell values of a dtype apart.
unsigned digits_of(Dtype probs) {
  if (probs == Dtype::f32) return 4;
  return probs == Dtype::f16 ? 3 : 2;
}

/// What launches leave for the next: each writes one half and reads the other.
struct Halves {
  std::byte* memory;
  std::size_t bytes;  ///< of each

  template <class T>
  T* at(unsigned launch) const {
    return reinterpret_cast<T*>(memory + launch % 2 * bytes);
  }
};

struct Workspace {
  Workspace(void* memory, std::size_t rows, std::size_t splits, FilterOrder order)
      : states{static_cast<std::byte*>(memory), rows * sizeof(RejectionSampleState)},
        parts{states.memory + 2 * states.bytes, rows * splits * sizeof(RejectionSamplePart)},
        bins{parts.memory + 2 * parts.bytes,
             order == FilterOrder::joint
                 ? 0
                 : rows * splits * kRejectionSampleBins * sizeof(unsigned)} {}

  Halves states, parts, bins;
};

RejectionSampleParams params_of(const RejectionSampleArgs& args, std::int64_t splits) {
  RejectionSampleParams params{};
  params.probs = args.probs.data;
  params.draw = args.draw ? args.draw->data : nullptr;
  params.top_k = static_cast<const int*>(args.top_k.data);
  params.top_p = args.top_p.data;
  params.min_p = args.min_p.data;
  params.seed = static_cast<const unsigned long long*>(args.seed.data);
  params.step = static_cast<const unsigned long long*>(args.step.data);
  params.token = static_cast<int*>(args.token.data);
  params.ok = static_cast<unsigned char*>(args.ok.data);
  params.rounds = static_cast<int*>(args.rounds.data);
  params.vocabulary = static_cast<unsigned>(args.probs.type.shape[1]);
  params.splits = static_cast<unsigned>(splits);
  params.digits = args.order == FilterOrder::joint ? 0 : digits_of(args.probs.type.dtype);
  return params;
}

/// What the launches of a split row do, but for the last, each with its number among its kind.
std::vector<std::pair<RejectionSamplePhase, unsigned>> split_launches(unsigned digits) {
  std::vector<std::pair<RejectionSamplePhase, unsigned>> list = {{RejectionSamplePhase::extent, 0}};
  for (unsigned n = 0; n < digits; ++n) list.emplace_back(RejectionSamplePhase::digit, n);
  list.emplace_back(RejectionSamplePhase::totals, 0);
  for (unsigned n = 0; n < kSplitRounds; ++n) list.emplace_back(RejectionSamplePhase::round, n);
  return list;
}

class Launcher {
 public:
  Launcher(Runtime& runtime, const RejectionSampleArgs& args, std::int64_t splits)
      : runtime_(runtime),
        args_(args),
        draw_(runtime, args.probs.type.dtype, args.step),
        variant_(rejection_sample_variant(args.probs.type.dtype, args.top_p.type.dtype,
                                          args.draw.has_value())),
        params_(params_of(args, splits)) {
    params_.step = draw_.step();
  }

  unsigned launches() const { return launches_; }

  void split(const Workspace& workspace) {
    for (const auto& [phase, number] : split_launches(params_.digits))
      launch(phase, number, &workspace);
    launch(RejectionSamplePhase::finish, kSplitRounds, &workspace);
  }
  void whole() { launch(RejectionSamplePhase::finish, 0, nullptr); }

 private:
  void launch(RejectionSamplePhase phase, unsigned number, const Workspace* workspace) {
    const bool last = phase == RejectionSamplePhase::finish;
    params_.phase = phase;
    params_.number = number;
    if (workspace != nullptr) {
      params_.state = workspace->states.at<RejectionSampleState>(launches_);
      params_.parts = workspace->parts.at<RejectionSamplePart>(launches_);
      params_.bins = workspace->bins.at<unsigned>(launches_);
      params_.state_before = workspace->states.at<RejectionSampleState>(launches_ + 1);
      params_.parts_before = workspace->parts.at<RejectionSamplePart>(launches_ + 1);
      params_.bins_before = workspace->bins.at<unsigned>(launches_ + 1);
    }
    ++launches_;
    const auto rows = static_cast<std::uint32_t>(args_.probs.type.shape[0]);
    runtime_.launch({.variant = variant_,
                     .shape = {.grid = {last ? rows : rows * params_.splits},
                               .block = {kRejectionSampleThreads}},
                     .params = std::as_bytes(std::span(&params_, 1)),
                     .input = args_.probs,
                     .output = args_.token,
                     .writes_output = last});
  }

  Runtime& runtime_;
  const RejectionSampleArgs& args_;
  const PlantedDraw draw_;
  const VariantSpec variant_;
  RejectionSampleParams params_;
  unsigned launches_ = 0;
};

}  // namespace

std::int64_t rejection_sample_workspace_bytes(std::int64_t rows, std::int64_t splits,
                                              FilterOrder order) {
  if (splits == 1) return 0;
  const Workspace workspace(nullptr, static_cast<std::size_t>(rows),
                            static_cast<std::size_t>(splits), order);
  return static_cast<std::int64_t>(
      2 * (workspace.states.bytes + workspace.parts.bytes + workspace.bins.bytes));
}

VariantSpec rejection_sample_variant(Dtype probs, Dtype filter, bool draw) {
  check_float(kWho, "probs", probs);
  check_float(kWho, "top_p", filter);
  return {.kernel = "rejection_sample",
          .constants = {{"DRAW", draw ? 1 : 0}},
          .dtypes = {{"probs", probs}, {"filter", filter}}};
}

std::string rejection_sample(Runtime& runtime, const RejectionSampleArgs& args) {
  check_shape(args);
  check_tensors(args);
  const Shape& probs = args.probs.type.shape;
  const std::int64_t splits =
      args.splits != kAutoSamplerSplits
          ? args.splits
          : sampler_splits(probs[0], probs[1], runtime.backend().identity().multiprocessors);
  Launcher launcher(runtime, args, splits);
  if (splits == 1 || probs[0] == 0) {
    launcher.whole();
  } else {
    const std::int64_t bytes = rejection_sample_workspace_bytes(probs[0], splits, args.order);
    const WorkspaceLease lease =
        runtime.lease_workspace({std::string(kWho), "rounds"}, static_cast<std::size_t>(bytes));
    launcher.split(Workspace(lease.memory.data, static_cast<std::size_t>(probs[0]),
                             static_cast<std::size_t>(splits), args.order));
  }
  return fmt::format("rejection splits={} launches={} threads={}", splits, launcher.launches(),
                     kRejectionSampleThreads);
}

}  // namespace parity
