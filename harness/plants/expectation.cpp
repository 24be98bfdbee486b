#include "harness/plants/expectation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "device/faults.hpp"
#include "harness/case.hpp"

namespace parity {
namespace {

using Ids = std::set<std::string>;

bool is(std::string_view glob, const std::string& id) {
  if (glob.starts_with('!')) return !matches(glob.substr(1), id);
  return matches(glob, id);
}

/// What nobody should blame, and what somebody must.
Ids victims_of(const Plant& plant) {
  Ids victims;
  for (const std::string_view id : plant.cases) {
    const bool struck = plant.strikes_launches() ? strikes(parse_case(registry(), id).dtypes)
                                                 : is(plant.sequence.back(), std::string(id));
    if (struck) victims.emplace(id);
  }
  return victims;
}

Ids blamed(const RunReport& report) {
  Ids found;
  for (const Finding& finding : report.findings) {
    found.insert(finding.victim);
    found.insert(finding.also.begin(), finding.also.end());
  }
  return found;
}

bool right_kind(const Plant& plant, const Finding& finding) {
  const std::string_view kind = name(finding.kind);
  return kind == plant.expected_kind || (plant.may_be_unstable && kind == "unstable");
}

bool right_symptom(const Plant& plant, const Finding& finding) {
  const std::string_view wanted = plant.expected_fingerprint;
  return (wanted.empty() || name(finding.fingerprint) == wanted) &&
         name(finding.role) == plant.expected_role;
}

bool fits(Globs globs, const std::vector<std::string>& sequence) {
  return std::ranges::equal(globs, sequence, is);
}

/// An unstable case claims no polluter, so any order that showed it is as good.
bool right_sequence(const Plant& plant, const Finding& finding) {
  const bool claims_order = finding.kind == Kind::order_dependent;
  if (!claims_order || plant.sequence.empty())
    return !finding.sequence.empty() && finding.sequence.back() == finding.victim &&
           (claims_order || plant.may_be_unstable || finding.sequence.size() == 1);
  if (!plant.any_order) return fits(plant.sequence, finding.sequence);
  std::vector<std::string_view> globs(plant.sequence.begin(), plant.sequence.end());
  std::sort(globs.begin(), globs.end() - 1);
  do {
    if (fits(globs, finding.sequence)) return true;
  } while (std::next_permutation(globs.begin(), globs.end() - 1));
  return false;
}

std::string only_in(const Ids& these, const Ids& others) {
  std::vector<std::string> ids;
  std::ranges::set_difference(these, others, std::back_inserter(ids));
  return fmt::format("{}", fmt::join(ids, ", "));
}

std::string blame_missing(const Plant& plant, const RunReport& report) {
  const Ids victims = victims_of(plant);
  const Ids ill = blamed(report);
  if (report.findings.empty()) return "nothing was found";
  if (const std::string wrong = only_in(ill, victims); !wrong.empty())
    return "blames what is well: " + wrong;
  if (const std::string missed = only_in(victims, ill); !missed.empty() && !plant.by_chance)
    return "does not blame " + missed;
  return "";
}

std::string symptom_missing(const Plant& plant, const RunReport& report) {
  for (const Finding& finding : report.findings)
    if (!right_kind(plant, finding) || !right_symptom(plant, finding))
      return fmt::format("found as {}, {}, {}, not as {}, {}, {}", name(finding.kind),
                         name(finding.fingerprint), name(finding.role), plant.expected_kind,
                         plant.expected_fingerprint.empty() ? "any" : plant.expected_fingerprint,
                         plant.expected_role);
  return "";
}

std::string sequence_missing(const Plant& plant, const RunReport& report) {
  for (const Finding& finding : report.findings)
    if (!right_sequence(plant, finding))
      return fmt::format("the sequence is {}", fmt::join(finding.sequence, " then "));
  return "";
}

std::string_view or_none(std::string_view carrier) {
  return carrier.empty() ? "no carrier" : carrier;
}

std::string carrier_missing(const Plant& plant, const RunReport& report) {
  for (const Finding& finding : report.findings)
    if (finding.carrier != plant.expected_carrier)
      return fmt::format("names {}, not {}", or_none(finding.carrier),
                         or_none(plant.expected_carrier));
  return "";
}

std::string grade_missing(const Plant& plant, const RunReport& report) {
  for (const Finding& finding : report.findings)
    if (name(finding.grade) != plant.expected_grade)
      return fmt::format("the grade is {}, not {}", name(finding.grade), plant.expected_grade);
  return "";
}

/// A rate of 1 is for a leak that shows every time.
std::string rate_missing(const Plant& plant, const RunReport& report) {
  for (const Finding& finding : report.findings) {
    const bool always = finding.reproduced.hits == finding.reproduced.runs;
    if (!plant.by_chance && finding.kind != Kind::unstable && !always)
      return fmt::format("reproduced {} of {} only", finding.reproduced.hits,
                         finding.reproduced.runs);
  }
  return "";
}

}  // namespace

SelftestRow compared(const Plant& plant, const RunReport& report) {
  SelftestRow row;
  row.leak_class = plant.leak_class;
  row.name = plant.name;
  row.worker_error = report.worker_error;
  const std::string blame = blame_missing(plant, report);
  const std::string symptom = symptom_missing(plant, report);
  const std::string sequence = sequence_missing(plant, report);
  const std::string carrier = carrier_missing(plant, report);
  row.found = blame.empty() && symptom.empty();
  row.exact = row.found && sequence.empty();
  row.carrier_right = row.found && carrier.empty();
  if (!report.findings.empty()) {
    const Finding& first = report.findings.front();
    row.carrier = first.carrier;
    row.grade = name(first.grade);
    if (plant.by_chance)
      row.rate = fmt::format("{} of {}", first.reproduced.hits, first.reproduced.runs);
  }
  for (const std::string& missing : {blame, symptom, sequence, carrier,
                                     grade_missing(plant, report), rate_missing(plant, report)})
    if (row.missing.empty()) row.missing = missing;
  return row;
}

SelftestRow compared_control(std::string_view name, const RunReport& report) {
  SelftestRow row;
  row.leak_class = "clean";
  row.name = name;
  row.control = true;
  row.worker_error = report.worker_error;
  row.found = row.exact = row.carrier_right = report.findings.empty();
  if (!row.found)
    row.missing = fmt::format("accuses {}", fmt::join(blamed(report), ", "));
  else if (report.exit_code != 0 && report.worker_error.empty())
    row.missing = fmt::format("exit code {} without a finding", report.exit_code);
  return row;
}

}  // namespace parity
