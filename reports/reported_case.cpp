#include "reports/reported_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harness/symptom.hpp"

namespace parity {
namespace {

std::string_view part(std::string_view id, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t slash = id.find('/');
    if (slash == std::string_view::npos) return "";
    id.remove_prefix(slash + 1);
  }
  return id.substr(0, id.find('/'));
}

double ratio(double error, double tolerance) {
  if (error == 0) return 0;
  return tolerance > 0 ? error / tolerance : std::numeric_limits<double>::infinity();
}

}  // namespace

std::string_view kernel_of(std::string_view id) {
  return part(id, 0);
}

std::string_view dtypes_of(std::string_view id) {
  return part(id, 1);
}

std::string_view constant_of(std::string_view id, std::string_view axis) {
  std::string_view rest = part(id, 2);
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    if (entry.size() > axis.size() && entry.starts_with(axis) && entry[axis.size()] == '=')
      return entry.substr(axis.size() + 1);
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return "";
}

std::optional<double> of_tolerance(const CaseSummary& summary) {
  const bool compared = summary.verdict == Verdict::passed || summary.verdict == Verdict::failed ||
                        summary.verdict == Verdict::untrusted;
  if (!compared || summary.runs == 0) return std::nullopt;
  double worst = ratio(summary.error, summary.tolerance);
  for (const OutputError& output : summary.outputs)
    worst = worse_error(worst, ratio(output.error, output.tolerance));
  return worst;
}

bool worse(double a, double b) {
  return std::isnan(a) ? !std::isnan(b) : a > b;
}

}  // namespace parity
