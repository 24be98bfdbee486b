#include "harness/golden.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "datasets/digest.hpp"
#include "harness/judge.hpp"

namespace parity {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How the two versions of a case are called, and what they may be off.
struct Comparison {
  std::string_view of_a;
  std::string_view of_b;
  double tolerance = 0;  ///< 0: every bit counts
};
constexpr Comparison kVerify = {"in the file", "computed", kGoldenTolerance};
constexpr Comparison kDiff = {"in A", "in B"};

/// Of the units of a tensor (elements or rows) those that differ, and the element that is most off.
struct Off {
  std::string_view units;  ///< "elements"
  std::string_view how;    ///< "off by"
  std::int64_t all = 0;
  std::int64_t wrong = 0;
  std::int64_t at = -1;
  double error = 0;

  void add(double unit_error, bool differs, std::int64_t index) {
    ++all;
    if (!differs) return;
    if (wrong++ == 0 || unit_error > error) {
      at = index;
      error = unit_error;
    }
  }
};

/// |a − b|; infinity where one of them is another kind of value (NaN, an infinity) than the other.
double distance_of(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::abs(a - b);
  return std::isnan(distance) ? kInfinity : distance;
}

Off compare_bits(const Tensor& a, const Tensor& b) {
  Off off{.units = "elements", .how = "off by"};
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const bool differs = a.bits_at(i) != b.bits_at(i);
    off.add(differs ? distance_of(a.at(i), b.at(i)) : 0, differs, i);
  }
  return off;
}

/// Each element by what it may be off for its own size, at least `least`.
Off compare_elements(const Tensor& a, const Tensor& b, double least) {
  Off off{.units = "elements", .how = "relative error"};
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double distance = distance_of(a.at(i), b.at(i));
    const double size = std::isfinite(a.at(i)) ? std::max(least, std::abs(a.at(i))) : 1;
    const double error = distance == 0 ? 0 : distance / size;
    off.add(error, !(error <= kGoldenTolerance), i);
  }
  return off;
}

Off compare_rows(const Tensor& a, const Tensor& b) {
  Off off{.units = "rows", .how = "row error"};
  const std::int64_t length = a.shape().empty() ? 1 : a.shape().back();
  for (std::int64_t begin = 0; begin < a.elements(); begin += length) {
    double squares = 0;
    double size = 0;
    std::int64_t worst = begin;
    for (std::int64_t i = begin; i < begin + length; ++i) {
      const double distance = distance_of(a.at(i), b.at(i));
      squares += distance * distance;
      if (std::isfinite(a.at(i))) size += a.at(i) * a.at(i);
      if (distance > distance_of(a.at(worst), b.at(worst))) worst = i;
    }
    const bool equal = distance_of(a.at(worst), b.at(worst)) == 0;
    const double error = equal ? 0 : size == 0 ? kInfinity : std::sqrt(squares) / std::sqrt(size);
    off.add(error, !(error <= kGoldenTolerance), worst);
  }
  return off;
}

std::string value_text(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() != Dtype::i64 && tensor.dtype() != Dtype::u64)
    return fmt::format("{:.17g}", tensor.at(index));
  const std::uint64_t bits = tensor.bits_at(index);  // a double would not hold all of them
  return tensor.dtype() == Dtype::u64 ? fmt::format("{}", bits)
                                      : fmt::format("{}", static_cast<std::int64_t>(bits));
}

class CaseComparison {
 public:
  CaseComparison(const PackCase& a, const PackCase& b, const Comparison& how)
      : a_(a), b_(b), how_(how) {}

  std::vector<std::string> lines() {
    field("operation", a_.operation, b_.operation);
    field("recipe", a_.recipe, b_.recipe);
    field("seed", fmt::format("{:#018x}", a_.seed), fmt::format("{:#018x}", b_.seed));
    field("version of the reference", a_.reference, b_.reference);
    if (same_names("inputs", a_.inputs, b_.inputs))
      for (std::size_t i = 0; i < a_.inputs.size(); ++i) input(a_.inputs[i], b_.inputs[i]);
    if (same_names("outputs", a_.outputs, b_.outputs))
      for (std::size_t i = 0; i < a_.outputs.size(); ++i) output(a_.outputs[i], b_.outputs[i]);
    return std::move(lines_);
  }

 private:
  bool field(std::string_view name, std::string_view a, std::string_view b) {
    if (a != b) lines_.push_back(fmt::format("{}: {} {}, {} {}", name, a, how_.of_a, b, how_.of_b));
    return a == b;
  }

  template <class Named>
  bool same_names(std::string_view what, const std::vector<Named>& a, const std::vector<Named>& b) {
    const auto names = [](const std::vector<Named>& list) {
      std::string text;
      for (const Named& one : list) text += (text.empty() ? "" : ", ") + one.name;
      return text;
    };
    return field(what, names(a), names(b));
  }

  void input(const PackInput& a, const PackInput& b) {
    if (!field("type of input " + a.name, a.type.to_string(), b.type.to_string())) return;
    if (a.digest == b.digest) return;
    if (a.data && b.data)
      return tensors("input " + a.name, a.name, compare_bits(*a.data, *b.data), *a.data, *b.data);
    field(fmt::format("digest of input {} (its elements are not stored)", a.name), a.digest.hex(),
          b.digest.hex());
  }

  void output(const PackOutput& a, const PackOutput& b) {
    const bool same_type =
        field("type of output " + a.name, a.type.to_string(), b.type.to_string());
    if (!field("rule of output " + a.name, rule_name(a.rule), rule_name(b.rule)) || !same_type)
      return;
    part("expected", a, a.expected, b.expected);
    part("bound of", a, a.bound, b.bound);
  }

  void part(std::string_view what, const PackOutput& output, const std::optional<Tensor>& a,
            const std::optional<Tensor>& b) {
    const std::string name = fmt::format("{} {}", what, output.name);
    const auto there = [](const std::optional<Tensor>& tensor) {
      return tensor ? "there" : "missing";
    };
    if (!field(name, there(a), there(b)) || !a) return;
    tensors(name, output.name, compare(output, what == "expected", *a, *b), *a, *b);
  }

  Off compare(const PackOutput& output, bool expected, const Tensor& a, const Tensor& b) const {
    const bool exact = how_.tolerance == 0 || !is_floating(output.type.dtype);
    const bool rows = output.rule == OutputRule::rows;
    if (exact || (!rows && output.rule != OutputRule::log_sum_exp)) return compare_bits(a, b);
    if (!expected) return compare_elements(a, b, 0);
    return rows ? compare_rows(a, b) : compare_elements(a, b, 1);
  }

  /// `name` opens the line, `tensor` is what the element is one of.
  void tensors(const std::string& name, const std::string& tensor, const Off& off, const Tensor& a,
               const Tensor& b) {
    if (off.wrong == 0) return;
    PackOutput placed;
    placed.name = tensor;
    placed.type = a.type();
    lines_.push_back(fmt::format(
        "{}: {} of {} {} differ, most at {}: {} {}, {} {} ({} {:.3g}{})", name, off.wrong, off.all,
        off.units, place(placed, off.at), value_text(a, off.at), how_.of_a, value_text(b, off.at),
        how_.of_b, off.how, off.error,
        off.units == "elements" && off.how == "off by" ? ""
                                                       : fmt::format(" > {:g}", how_.tolerance)));
  }

  const PackCase& a_;
  const PackCase& b_;
  Comparison how_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> verify_case(const PackCase& stored, const PackCase& computed) {
  return CaseComparison(stored, computed, kVerify).lines();
}

std::vector<std::string> diff_cases(const PackCase& a, const PackCase& b) {
  return CaseComparison(a, b, kDiff).lines();
}

std::vector<std::string> sample_of(std::span<const std::string> ids, std::size_t count,
                                   std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, std::size_t>> drawn;
  for (std::size_t i = 0; i < ids.size(); ++i)
    drawn.emplace_back(stable_hash(fmt::format("{}\n{}", seed, ids[i])), i);
  std::ranges::sort(drawn);
  drawn.resize(std::min(count, drawn.size()));
  std::ranges::sort(drawn, {}, &std::pair<std::uint64_t, std::size_t>::second);
  std::vector<std::string> chosen;
  for (const auto& [hash, i] : drawn) chosen.push_back(ids[i]);
  return chosen;
}

}  // namespace parity
