// The report as one HTML page that needs nothing but itself.
#include <fmt/format.h>

#include <array>
#include <ostream>

#include "reports/html_sections.hpp"
#include "reports/html_text.hpp"
#include "reports/page_texts.hpp"
#include "reports/report.hpp"

namespace parity {
namespace {

/// Style and script are permitted by their digests, and nothing else is: no network, no images, no
/// forms, no style or script in attributes.
std::string policy() {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; "
      "form-action 'none'",
      page_style().sha256, page_script().sha256);
}

std::string head(const JoinedRuns& joined) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<meta name=\"generator\" content=\"parity\"/>\n"
      "<title>{}: {}</title>\n<style>{}</style>\n</head>\n",
      policy(), verdict_word(joined), html_text(verdict_sentence(joined)), page_style().text);
}

std::string navigation(const std::vector<HtmlSection>& sections) {
  std::string items;
  for (const HtmlSection& section : sections) {
    if (section.body.empty()) continue;
    items += fmt::format(
        "<li>{}{}</li>\n", html_link(section.id, section.heading),
        section.count.empty() ? "" : fmt::format(" <span>{}</span>", html_text(section.count)));
  }
  return "<nav aria-label=\"Parts of the page\">\n<ul>\n" + items + "</ul>\n</nav>\n";
}

std::string section_markup(const HtmlSection& section) {
  if (section.body.empty()) return "";
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n"
      "{2}</section>\n",
      section.id, html_text(section.heading), section.body);
}

class HtmlWriter final : public ReportWriter {
 public:
  void write(const JoinedRuns& joined, std::ostream& out) const override {
    Gnuplot gnuplot;
    const std::vector<HtmlSection> sections = {steps_section(joined),
                                               runs_section(joined),
                                               findings_section(joined),
                                               heat_map_section(joined, gnuplot),
                                               errors_section(joined, gnuplot),
                                               ppc_section(joined, gnuplot),
                                               times_section(joined, gnuplot),
                                               coverage_section(joined),
                                               selftest_section(joined),
                                               environment_section(joined),
                                               cases_section(joined)};
    out << head(joined) << "<body>\n<a class=\"skip\" href=\"#content\">Skip to the findings</a>\n"
        << html_headline(joined) << navigation(sections) << "<main id=\"content\">\n";
    for (const HtmlSection& section : sections) out << section_markup(section);
    out << "</main>\n<div id=\"said\" class=\"unseen\" role=\"status\" "
           "aria-live=\"polite\"></div>\n"
        << "<script>" << page_script().text << "</script>\n</body>\n</html>\n";
  }
};

/// Sign and colour of a word; what is not listed is neither good nor bad.
struct Tone {
  std::string_view word;
  std::string_view tone;
};
constexpr std::array kTones = {
    Tone{"passed", "good"},       Tone{"found", "good"},       Tone{"clean", "good"},
    Tone{"confirmed", "sure"},    Tone{"failed", "bad"},       Tone{"error", "bad"},
    Tone{"crashed", "bad"},       Tone{"timed_out", "bad"},    Tone{"order_dependent", "bad"},
    Tone{"mismatch", "bad"},      Tone{"hygiene", "bad"},      Tone{"crash", "bad"},
    Tone{"timeout", "bad"},       Tone{"missed", "bad"},       Tone{"falsely accused", "bad"},
    Tone{"named wrongly", "bad"}, Tone{"did not pass", "bad"}, Tone{"unstable", "doubt"},
    Tone{"unconfirmed", "doubt"}, Tone{"untrusted", "doubt"},  Tone{"not_run", "doubt"}};

}  // namespace

std::string html_badge(std::string_view word) {
  std::string_view tone = "plain";
  for (const Tone& one : kTones)
    if (one.word == word) tone = one.tone;
  std::string text(word);
  for (char& c : text)
    if (c == '_') c = word == "order_dependent" ? '-' : ' ';
  return fmt::format("<span class=\"badge {}\">{}</span>", tone, html_text(text));
}

std::unique_ptr<ReportWriter> make_html_writer() {
  return std::make_unique<HtmlWriter>();
}

}  // namespace parity
