// What finders of order-dependent failures have in common: a suite to run under a budget, and
// claims about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/judge.hpp"
#include "harness/ledger.hpp"
#include "harness/orders.hpp"
#include "harness/outcome.hpp"

namespace parity {

struct Cost {
  std::size_t executions = 0;  ///< case runs that came to an end
  std::size_t starts = 0;      ///< processes

  Cost operator-(const Cost& other) const {
    return {executions - other.executions, starts - other.starts};
  }
  Cost operator+(const Cost& other) const {
    return {executions + other.executions, starts + other.starts};
  }
};

/// Counts what it lets through to an executor, up to a number of executions: a sequence that does
/// not fit, and each after it, comes back not_run.
class Meter final : public Executor {
 public:
  Meter(Executor& executor, std::size_t cases, std::size_t budget)
      : executor_(executor), budget_(budget), ledger_(cases) {}

  std::vector<SequenceResult> execute(std::span<const Sequence> sequences) override;
  const CarrierAbilities& abilities() override { return executor_.abilities(); }
  bool stopped() const override { return exhausted_; }

  const Cost& spent() const { return spent_; }
  std::size_t left() const { return exhausted_ ? 0 : budget_ - spent_.executions; }
  bool exhausted() const { return exhausted_; }
  /// Of all runs that came to an end.
  const Ledger& ledger() const { return ledger_; }

 private:
  SequenceResult run(const Sequence& sequence);

  Executor& executor_;
  std::size_t budget_;
  Ledger ledger_;
  Cost spent_;
  bool exhausted_ = false;
};

/// How much a detector says. failed: it went wrong, and nothing is said of why.
enum class Word : std::uint8_t { failed, flaky, order_dependent };

struct Claim {
  Word word = Word::failed;
  std::size_t victim = 0;
  Order history;  ///< what is to run before the victim to see it again
  Role role = Role::victim;
  std::string carrier = {};
};

struct Detection {
  std::vector<Claim> claims;  ///< none: nothing was found
  Cost detected;              ///< spent up to the end of the order that first showed it
  PairCount claimed = {};     ///< coverage that the detector states; none but ours does
  Cost settled;  ///< spent after that up to the sequence that is claimed; confirmations left out
};

struct Lab {
  std::span<const Case> cases;
  Judge& judge;
  Meter& meter;
  std::uint64_t seed = 0;
};

class Detector {
 public:
  virtual ~Detector() = default;
  virtual std::string_view name() const = 0;
  /// Whether it reads probes.
  virtual bool probes() const { return false; }
  /// Runs orders until it has a claim or the meter's budget is spent.
  virtual Detection run(Lab& lab) const = 0;
};

}  // namespace parity
