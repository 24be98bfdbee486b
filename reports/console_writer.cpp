// The report for a person at a terminal: verdict, findings, coverage, each in few lines.
#include "reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "reports/finding_sentence.hpp"
#include "reports/selftest_writer.hpp"
#include "reports/wrap.hpp"

namespace parity {
namespace {

constexpr std::size_t kListed = 6;        ///< other victims and exposed functions, each
constexpr std::size_t kListedCases = 10;  ///< cases that are not passed and stand in no finding

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// One report on one stream.
class Console {
 public:
  Console(const RunReport& report, std::ostream& out, bool colour)
      : report_(report), out_(out), colour_(colour) {}

  void write() const {
    verdict();
    for (std::size_t i = 0; i < report_.findings.size(); ++i) finding(i + 1, report_.findings[i]);
    other_cases();
    out_ << '\n';
    coverage();
    identity();
    if (!report_.resume.empty()) command("resume", report_.resume);
  }

 private:
  std::string painted(std::string_view code, std::string_view text) const {
    return colour_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }

  /// "   label      text", wrapped under the text.
  void line(std::string_view label, std::string_view text) const {
    out_ << wrapped(fmt::format("   {:<15} ", label), text);
  }

  /// A command stands on one line of its own however long it is, so that it can be copied.
  void command(std::string_view label, std::string_view text) const {
    out_ << fmt::format("   {:<15} {}\n", label, text);
  }

  void list(std::string_view label, const std::vector<std::string>& words) const {
    for (std::size_t i = 0; i < std::min(words.size(), kListed); ++i) {
      line(i == 0 ? label : "", words[i]);
    }
    if (words.size() > kListed) line("", fmt::format("and {} more", words.size() - kListed));
  }

  /// Every case passed, some ran more than once, and none has ever shown other bits.
  bool same_bits_everywhere() const {
    const auto steady = [](const CaseSummary& c) {
      return c.verdict == Verdict::passed && c.distinct_bits == 1;
    };
    const auto again = [](const CaseSummary& c) { return c.runs > 1; };
    return std::ranges::all_of(report_.cases, steady) && std::ranges::any_of(report_.cases, again);
  }

  std::pair<std::string_view, std::string_view> word_and_colour() const {
    switch (report_.exit_code) {
      case 0:
        return {"PASSED", "1;32"};
      case 2:
        return {"NOTHING RAN", "1;31"};
      case 3:
        return {"ORDER-DEPENDENT", "1;31"};
      case 4:
        return {report_.interrupted ? "INTERRUPTED" : "UNSTABLE", "1;33"};
      case 5:
        return {report_.worker_error.empty() ? "INTERRUPTED" : "WORKER ERROR", "1;33"};
      default:
        return {"FAILED", "1;31"};
    }
  }

  void verdict() const {
    std::map<Verdict, std::size_t> counts;
    for (const CaseSummary& summary : report_.cases) ++counts[summary.verdict];
    const auto [word, code] = word_and_colour();
    std::string text = fmt::format(": {} of {} passed", counts[Verdict::passed],
                                   plural(report_.cases.size(), "case"));
    for (const auto& [verdict, count] : counts) {
      if (verdict != Verdict::passed && count > 0) {
        text += fmt::format(", {} {}", count, name(verdict));
      }
    }
    if (!report_.findings.empty()) {
      text += "; " + plural(report_.findings.size(), "finding");
    } else if (same_bits_everywhere()) {
      text += ", each with the same bits in every run";
    }
    if (report_.interrupted) text += "; interrupted, the rest did not run";
    if (!report_.plants.empty()) text += fmt::format(" (planted: {})", joined(report_.plants));
    out_ << painted(code, word) << text << '\n';
    if (!report_.worker_error.empty()) command("worker error", report_.worker_error);
  }

  void finding(std::size_t number, const Finding& finding) const {
    out_ << '\n';
    out_ << painted("1", wrapped(fmt::format("{}. ", number), finding_sentence(finding)));
    for (const auto& [label, id] : sequence_labels(finding)) line(label, id);
    command("replay", finding.replay);
    if (!finding.contrast.empty()) command("contrast", finding.contrast);
    line("seen",
         fmt::format("{} of {} in fresh processes, against {} of {} alone", finding.reproduced.hits,
                     finding.reproduced.runs, finding.alone.hits, finding.alone.runs));
    if (!finding.detail.empty()) line("detail", finding.detail);
    line("role", name(finding.role));
    list("other victims", finding.also);
    list("exposed", finding.exposed);
    if (finding.not_probed != report_.not_probed && !finding.not_probed.empty()) {
      line("not probed", joined(finding.not_probed));
    }
  }

  /// Cases without a verdict of `passed` that no finding speaks of.
  void other_cases() const {
    std::set<std::string_view> told;
    for (const Finding& finding : report_.findings) {
      told.insert(finding.victim);
      told.insert(finding.also.begin(), finding.also.end());
    }
    std::size_t others = 0;
    for (const CaseSummary& summary : report_.cases) {
      if (summary.verdict == Verdict::passed || told.contains(summary.id)) continue;
      if (++others == 1) out_ << '\n';
      if (others > kListedCases) continue;
      const std::string reason = summary.detail.empty() ? "" : ": " + summary.detail;
      out_ << wrapped(fmt::format("{} ", name(summary.verdict)), summary.id + reason);
    }
    if (others > kListedCases) out_ << fmt::format("and {} more\n", others - kListedCases);
  }

  void pairs(std::string_view label, const PairCount& count) const {
    std::string text = fmt::format("{} exercised of {} possible", count.exercised, count.possible);
    if (count.exercised != count.planned) text += fmt::format(" ({} planned)", count.planned);
    line(label, text);
  }

  void coverage() const {
    const Coverage& coverage = report_.coverage;
    pairs("adjacent pairs", coverage.adjacent);
    pairs("ordered pairs", coverage.ordered);
    if (report_.threads > 1) {
      pairs("pairs together", coverage.together);
      line("threads", fmt::format("{}", report_.threads));
    }
    line("executions",
         fmt::format("{} in {}, {}", coverage.executions, plural(coverage.orders, "order"),
                     plural(coverage.process_starts, "process start")));
    list("quarantined", report_.quarantined);
    list("noisy", report_.noisy);
    if (!report_.not_probed.empty()) line("not probed", joined(report_.not_probed));
  }

  void identity() const {
    std::string device = report_.backend;
    for (const std::string* part :
         {&report_.device_name, &report_.device_arch, &report_.device_driver}) {
      if (!part->empty()) device += ", " + *part;
    }
    line("device", device);
    line("suite", report_.suite);
    line("seed", fmt::format("{}", report_.seed));
  }

  const RunReport& report_;
  std::ostream& out_;
  bool colour_;
};

/// What is not well says how it can be seen again.
std::string step_lines(const ReportedStep& step) {
  const std::string said = step.said.empty() ? "" : ": " + step.said;
  std::string text = wrapped(step.name + " ", fmt::format("exit code {}{}", step.exit_code, said));
  if (step.exit_code != 0) text += fmt::format("   {:<15} {}\n", "again", step.command);
  return text;
}

class ConsoleWriter final : public ReportWriter {
 public:
  explicit ConsoleWriter(bool colour) : colour_(colour) {}

  void write(const JoinedRuns& joined, std::ostream& out) const override {
    std::string_view gap;
    for (const ReportedRun& run : joined.runs) {
      out << gap;
      Console(run.report, out, colour_).write();
      gap = "\n";
    }
    for (const ReportedSelftest& selftest : joined.selftests) {
      out << gap << "selftest on " << selftest.report.backend << '\n'
          << selftest_summary(selftest.report);
      gap = "\n";
    }
    if (!joined.steps.empty() || !joined.times.empty()) out << gap;
    for (const ReportedStep& step : joined.steps) out << step_lines(step);
    for (const KernelTime& time : joined.times)
      out << fmt::format("{:>12.1f} us  {:>4.0f} % of the ceiling  {}\n", time.nanoseconds * 1e-3,
                         time.of_ceiling * 100, time.benchmark);
  }

 private:
  bool colour_;
};

}  // namespace

std::unique_ptr<ReportWriter> make_console_writer(bool colour) {
  return std::make_unique<ConsoleWriter>(colour);
}

}  // namespace parity
