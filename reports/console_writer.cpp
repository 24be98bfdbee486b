// The report for a person at a terminal: verdict, findings, coverage, each in few lines.
#include "reports/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>

#include "reports/finding_sentence.hpp"
#include "reports/selftest_writer.hpp"
#include "reports/wrap.hpp"

namespace parity {
namespace {

constexpr std::size_t kListed = 6;        ///< other victims and exposed functions, each
constexpr std::size_t kListedCases = 10;  ///< cases that are not passed and stand in no finding

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

/// One report on one stream.
class Console {
 public:
  Console(const ReportedRun& run, std::ostream& out, bool colour)
      : run_(run), report_(run.report), out_(out), colour_(colour) {}

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

  std::string_view colour() const {
    switch (report_.exit_code) {
      case 0:
        return "1;32";
      case 4:
      case 5:
        return "1;33";
      default:
        return "1;31";
    }
  }

  void verdict() const {
    std::map<Verdict, std::size_t> counts;
    for (const CaseSummary& summary : report_.cases) ++counts[summary.verdict];
    std::string text = fmt::format(": {} of {} passed", counts[Verdict::passed],
                                   plural(report_.cases.size(), "case"));
    for (const auto& [verdict, count] : counts) {
      if (verdict != Verdict::passed && count > 0) {
        text += fmt::format(", {} {}", count, name(verdict));
      }
    }
    if (!report_.findings.empty()) {
      text += "; " + plural(report_.findings.size(), "finding");
    } else if (same_bits_everywhere({&run_, 1})) {
      text += ", each with the same bits in every run";
    }
    if (report_.interrupted) text += "; interrupted, the rest did not run";
    if (!report_.plants.empty()) text += fmt::format(" (planted: {})", joined(report_.plants));
    out_ << painted(colour(), verdict_word(report_)) << text << '\n';
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

  void other_cases() const {
    std::size_t others = 0;
    for (const CaseSummary* summary : cases_without_finding(report_)) {
      if (++others == 1) out_ << '\n';
      if (others > kListedCases) continue;
      const std::string reason = summary->detail.empty() ? "" : ": " + summary->detail;
      out_ << wrapped(fmt::format("{} ", name(summary->verdict)), summary->id + reason);
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

  const ReportedRun& run_;
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

std::string time_line(const KernelTime& time) {
  const std::string device = device_text(time);
  return fmt::format("{:>12.1f} us  {:>4.0f} % of the ceiling  {}{}\n", time.nanoseconds * 1e-3,
                     time.of_ceiling * 100, time.benchmark,
                     device.empty() ? "" : " (" + device + ")");
}

class ConsoleWriter final : public ReportWriter {
 public:
  explicit ConsoleWriter(bool colour) : colour_(colour) {}

  void write(const JoinedRuns& joined, std::ostream& out) const override {
    std::string_view gap;
    for (const ReportedRun& run : joined.runs) {
      out << gap;
      Console(run, out, colour_).write();
      gap = "\n";
    }
    for (const ReportedSelftest& selftest : joined.selftests) {
      out << gap << "selftest on " << selftest.report.backend << '\n'
          << selftest_summary(selftest.report);
      gap = "\n";
    }
    if (!joined.steps.empty() || !joined.times.empty()) out << gap;
    for (const ReportedStep& step : joined.steps) out << step_lines(step);
    for (const KernelTime& time : joined.times) out << time_line(time);
  }

 private:
  bool colour_;
};

}  // namespace

std::unique_ptr<ReportWriter> make_console_writer(bool colour) {
  return std::make_unique<ConsoleWriter>(colour);
}

}  // namespace parity
