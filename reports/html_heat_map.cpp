// Which case disturbs which: every pair that a finding names, as a map and as a table.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/plot.hpp"
#include "reports/reported_case.hpp"

namespace parity {
namespace {

struct PollutedPair {
  std::string polluter;
  std::string victim;
  Rate seen;
  std::size_t finding = 0;  ///< number of its card
  std::size_t steps = 0;    ///< of the sequence
};

/// Nobody is polluted by what ran before a case that is ill alone too, or where a case is right
/// only after another. Other victims of the same state are no pairs: which polluter reaches which
/// of them was not tried.
std::vector<PollutedPair> polluted_pairs(const JoinedRuns& joined) {
  std::vector<PollutedPair> pairs;
  std::size_t number = 0;
  for (const ReportedRun& run : joined.runs)
    for (const Finding& finding : run.report.findings) {
      ++number;
      if (finding.kind != Kind::order_dependent || finding.role == Role::brittle ||
          finding.sequence.size() < 2)
        continue;
      std::set<std::string_view> told;
      for (const std::string& polluter : finding.sequence) {
        if (&polluter == &finding.sequence.back() || !told.insert(polluter).second) continue;
        pairs.push_back({polluter, finding.sequence.back(), finding.reproduced, number,
                         finding.sequence.size()});
      }
    }
  return pairs;
}

/// Those that a pair names, in the order of the runs' cases, then in that of the pairs.
std::vector<std::string> cases_of(const JoinedRuns& joined,
                                  const std::vector<PollutedPair>& pairs) {
  std::set<std::string_view> wanted;
  for (const PollutedPair& pair : pairs) wanted.insert({pair.polluter, pair.victim});
  std::vector<std::string> cases;
  const auto take = [&](const std::string& id) {
    if (wanted.erase(id) > 0) cases.push_back(id);
  };
  for (const ReportedRun& run : joined.runs)
    for (const CaseSummary& summary : run.report.cases) take(summary.id);
  for (const PollutedPair& pair : pairs) {
    take(pair.polluter);
    take(pair.victim);
  }
  return cases;
}

std::vector<std::string> words_of(std::string_view id) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : id) {
    if (c != '/' && c != ',') word += c;
    if (c == '/' || c == ',') words.push_back(std::exchange(word, ""));
  }
  words.push_back(word);
  return words;
}

/// Kernel, dtypes, and what else tells the case from the others of its kernel.
std::vector<std::string> short_names(const std::vector<std::string>& ids) {
  std::map<std::string_view, std::map<std::string, std::size_t>> holders;
  std::map<std::string_view, std::size_t> sizes;
  for (const std::string& id : ids) {
    ++sizes[kernel_of(id)];
    const std::vector<std::string> words = words_of(id);
    for (const std::string& word : std::set<std::string>(words.begin(), words.end()))
      ++holders[kernel_of(id)][word];
  }
  std::vector<std::string> names;
  for (const std::string& id : ids) {
    const std::string_view kernel = kernel_of(id);
    const std::string_view dtypes = dtypes_of(id);
    std::string text = fmt::format("{} {}", kernel, dtypes);
    const std::string rest = id.substr(std::min(id.size(), kernel.size() + dtypes.size() + 2));
    for (const std::string& word : words_of(rest))
      if (holders[kernel][word] < sizes[kernel]) text += " " + word;
    names.push_back(text);
  }
  return names;
}

/// So that the number behind it has room.
std::string shortened(const std::string& name) {
  constexpr std::size_t kLetters = 58;
  if (name.size() <= kLetters) return name;
  return fmt::format("{}..", std::string_view(name).substr(0, kLetters - 2));
}

std::size_t place(const std::vector<std::string>& list, const std::string& item) {
  return static_cast<std::size_t>(std::ranges::find(list, item) - list.begin());
}

HeatMap map_of(const std::vector<PollutedPair>& pairs, const std::vector<std::string>& cases) {
  HeatMap map = {.name = "heat-map",
                 .down = "polluter, runs first",
                 .across = "victim, by number",
                 .rows = {},
                 .columns = {},
                 .squares = {}};
  const std::vector<std::string> names = short_names(cases);
  std::vector<std::string> polluters;
  std::vector<std::string> victims;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (std::ranges::find(pairs, cases[i], &PollutedPair::polluter) != pairs.end()) {
      polluters.push_back(cases[i]);
      map.rows.push_back(fmt::format("{} {:>4}", shortened(names[i]), i + 1));
    }
    if (std::ranges::find(pairs, cases[i], &PollutedPair::victim) != pairs.end()) {
      victims.push_back(cases[i]);
      map.columns.push_back(fmt::format("{}", i + 1));
    }
  }
  // Of pairs that several findings name, the one that was seen most often.
  std::map<std::pair<std::size_t, std::size_t>, double> shares;
  for (const PollutedPair& pair : pairs) {
    const auto runs = static_cast<double>(std::max<std::size_t>(pair.seen.runs, 1));
    const double share = static_cast<double>(pair.seen.hits) / runs;
    double& known = shares[{place(polluters, pair.polluter), place(victims, pair.victim)}];
    known = std::max(known, share);
  }
  for (const auto& [at, share] : shares) map.squares.push_back({at.first, at.second, share});
  return map;
}

HtmlTable table_of(const std::vector<PollutedPair>& pairs, const std::vector<std::string>& cases) {
  HtmlTable table = {.id = "heat-map-table",
                     .caption = "Polluters and their victims",
                     .columns = {{"No.", true},
                                 {"Polluter"},
                                 {"No.", true},
                                 {"Victim"},
                                 {"Seen in fresh processes"},
                                 {"Steps", true},
                                 {"Finding", true}},
                     .rows = {}};
  for (const PollutedPair& pair : pairs)
    table.rows.push_back(
        {fmt::format("{}", place(cases, pair.polluter) + 1), html_code(pair.polluter),
         fmt::format("{}", place(cases, pair.victim) + 1), html_code(pair.victim),
         fmt::format("{} of {}", pair.seen.hits, pair.seen.runs), fmt::format("{}", pair.steps),
         html_link(fmt::format("finding-{}", pair.finding), fmt::format("{}", pair.finding))});
  return table;
}

}  // namespace

HtmlSection heat_map_section(const JoinedRuns& joined, Gnuplot& gnuplot) {
  const std::vector<PollutedPair> pairs = polluted_pairs(joined);
  if (pairs.empty()) return {"heat", "Heat map", "", ""};
  const std::vector<std::string> cases = cases_of(joined, pairs);
  const HeatMap map = map_of(pairs, cases);
  const std::string caption = fmt::format(
      "{} and {} of order-dependent findings: every pair that was shown in fresh processes, darker "
      "where more of them showed it. Other victims of a leaked state stand in its finding: which "
      "polluter reaches which of them was not tried. Numbers are those of the table.",
      plural(map.rows.size(), "polluter"), plural(map.columns.size(), "victim"));
  return {"heat", "Heat map",
          html_plot(gnuplot, plot_script(map), map.name, "Polluters and victims", caption,
                    table_of(pairs, cases)),
          ""};
}

}  // namespace parity
