// Findings as cards: what happened, in which order, what leaked, and how to see it again.
#include <fmt/format.h>

#include <algorithm>

#include "reports/finding_sentence.hpp"
#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"

namespace parity {
namespace {

constexpr std::size_t kListed = 4;        ///< words that stand open; more are folded
constexpr std::size_t kListedCases = 20;  ///< cases that stand in no finding

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string list_markup(const std::vector<std::string>& words) {
  std::string items;
  for (const std::string& word : words) items += "<li>" + html_code(word) + "</li>";
  const std::string list = "<ul>" + items + "</ul>";
  if (words.size() <= kListed) return list;
  return fmt::format("<details><summary>all {}</summary>{}</details>", words.size(), list);
}

/// Of a case that is not the last of the sequence. Only where the order makes the difference is it
/// accused of anything.
std::string_view earlier_part(const Finding& finding) {
  if (finding.kind != Kind::order_dependent)
    return finding.threads > 1 ? "ran with or before" : "ran before";
  return finding.role == Role::brittle ? "setter" : "polluter";
}

/// Each case of the sequence with its letter and what it is in it.
std::string sequence_markup(const Finding& finding) {
  std::string items;
  const auto labels = sequence_labels(finding);
  const std::string& last = finding.sequence.empty() ? finding.victim : finding.sequence.back();
  for (const auto& [letter, id] : labels) {
    const bool victim = id == last;
    const std::string_view part = victim ? name(finding.role) : earlier_part(finding);
    items +=
        fmt::format("<li><b class=\"letter{}\">{}</b> <span class=\"part\">{}</span> {}</li>\n",
                    victim ? " last" : "", letter, part, html_code(id));
  }
  return "<ol class=\"sequence\">\n" + items + "</ol>\n";
}

/// Entries "k=f16" that the two do not share are marked.
std::string entries_markup(const std::string& all, const std::string& differing) {
  if (differing.empty() || differing == all) return html_code(all);
  std::string markup = "<code>";
  for (std::string_view rest = all; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    const std::string padded = "," + differing + ",";
    const bool differs = padded.find("," + std::string(entry) + ",") != std::string::npos;
    markup += (markup.size() > 6 ? "," : "") +
              (differs ? "<mark>" + html_text(entry) + "</mark>" : html_text(entry));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
  }
  return markup + "</code>";
}

void leaked(const Finding& finding, Entries& entries) {
  if (finding.carrier.empty()) {
    if (finding.kind == Kind::order_dependent) entries.emplace_back("Leaked state", "not known");
    return;
  }
  entries.emplace_back("Leaked state", html_code(finding.carrier));
  if (!finding.cell.empty()) entries.emplace_back("Cell", html_code(finding.cell));
  const auto [built, used] = differing_entries(finding.built_for, finding.used_for);
  if (!finding.built_for.empty())
    entries.emplace_back("Built for", entries_markup(finding.built_for, built));
  if (!finding.used_for.empty())
    entries.emplace_back("Used for", entries_markup(finding.used_for, used));
}

std::string command_markup(std::size_t number, std::string_view word, std::string_view what,
                           const std::string& command) {
  if (command.empty()) return "";
  return fmt::format(
      "<div class=\"command\"><p>{0}</p><pre id=\"finding-{1}-{2}\">{3}</pre>"
      "<button type=\"button\" class=\"copy\" data-copy=\"finding-{1}-{2}\" hidden=\"hidden\" "
      "aria-label=\"Copy the {2} command of finding {1}\">Copy</button></div>\n",
      what, number, word, html_text(command));
}

std::string card(const JoinedRuns& joined, std::size_t run, std::size_t number,
                 const Finding& finding) {
  const RunReport& report = joined.runs[run].report;
  Entries entries;
  leaked(finding, entries);
  entries.emplace_back("Seen", fmt::format("{} of {} in fresh processes, against {} of {} alone",
                                           finding.reproduced.hits, finding.reproduced.runs,
                                           finding.alone.hits, finding.alone.runs));
  if (!finding.detail.empty()) entries.emplace_back("Detail", html_text(finding.detail));
  if (finding.threads > 1)
    entries.emplace_back("Threads", fmt::format("{} at the same time", finding.threads));
  if (!finding.also.empty())
    entries.emplace_back(std::string("O").append(other_victims(finding).substr(1)),
                         list_markup(finding.also));
  if (!finding.exposed.empty())
    entries.emplace_back("Exposed launches", list_markup(finding.exposed));
  if (!finding.not_probed.empty() && finding.not_probed != not_probed(report))
    entries.emplace_back("Not probed", html_codes(finding.not_probed));
  if (joined.runs.size() > 1) entries.emplace_back("Run", html_text(run_name(joined, run)));
  return fmt::format(
             "<article class=\"card\" id=\"finding-{0}\" aria-labelledby=\"finding-{0}-title\">\n"
             "<p class=\"badges\"><span class=\"index\">{0}</span> {1} {2} {3}</p>\n"
             "<h3 id=\"finding-{0}-title\">{4}</h3>\n{5}",
             number, html_badge(name(finding.kind)),
             name(finding.kind) == name(finding.fingerprint)
                 ? ""
                 : html_badge(name(finding.fingerprint)),
             html_badge(name(finding.grade)), html_text(finding_sentence(finding)),
             sequence_markup(finding)) +
         html_list(entries) + command_markup(number, "replay", "Replay", finding.replay) +
         command_markup(number, "contrast", "Contrast: the same case alone", finding.contrast) +
         "</article>\n";
}

std::string other_cases(const JoinedRuns& joined) {
  HtmlTable table = {.id = "other-cases",
                     .caption = "Cases that did not pass and stand in no finding",
                     .columns = {{"Case"}, {"Verdict"}, {"Detail"}, {"Run"}},
                     .rows = {}};
  std::size_t others = 0;
  for (std::size_t i = 0; i < joined.runs.size(); ++i)
    for (const CaseSummary* summary : cases_without_finding(joined.runs[i].report))
      if (++others <= kListedCases)
        table.rows.push_back({html_code(summary->id), html_badge(name(summary->verdict)),
                              html_text(summary->detail), html_text(run_name(joined, i))});
  if (others == 0) return "";
  std::string markup = html_table(table);
  if (others > kListedCases)
    markup += fmt::format("<p>And {} more, in the {}.</p>\n", others - kListedCases,
                          html_link("cases", "table of cases"));
  return markup;
}

}  // namespace

HtmlSection findings_section(const JoinedRuns& joined) {
  std::string cards;
  std::size_t number = 0;
  for (std::size_t i = 0; i < joined.runs.size(); ++i)
    for (const Finding& finding : joined.runs[i].report.findings)
      cards += card(joined, i, ++number, finding);
  if (cards.empty() && !joined.runs.empty()) cards = "<p class=\"none\">No findings.</p>\n";
  return {"findings", "Findings", cards + other_cases(joined),
          number == 0 ? "none" : fmt::format("{}", number)};
}

}  // namespace parity
