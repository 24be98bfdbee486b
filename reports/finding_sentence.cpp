// What happened, how badly, and what leaked: the words of one finding.
#include "reports/finding_sentence.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parity {
namespace {

constexpr std::size_t kSpelled = 8;  ///< longest sequence whose every step the sentence names

std::vector<std::string> steps_of(const Finding& finding) {
  return finding.sequence.empty() ? std::vector<std::string>{finding.victim} : finding.sequence;
}

/// A, B, ..., Z, A1, B1, ...
std::string letter(std::size_t index) {
  std::string text(1, static_cast<char>('A' + index % 26));
  if (index >= 26) text += std::to_string(index / 26);
  return text;
}

std::vector<std::string> letters_of_steps(const Finding& finding) {
  const auto labels = sequence_labels(finding);
  std::vector<std::string> letters;
  for (const std::string& step : steps_of(finding)) {
    letters.push_back(
        std::ranges::find(labels, step, [](const auto& l) { return l.second; })->first);
  }
  return letters;
}

/// Between two steps: whether they ran at the same time, in groups of `threads` from the end.
std::string_view joint(const std::vector<std::string>& letters, std::size_t next,
                       std::size_t threads) {
  return (letters.size() - next) % threads == 0 ? " then " : " with ";
}

std::string history_text(const std::vector<std::string>& letters, std::size_t threads) {
  if (letters.size() <= kSpelled) {
    std::string text = letters.front();
    for (std::size_t i = 1; i < letters.size(); ++i)
      text.append(joint(letters, i, threads)).append(letters[i]);
    return text;
  }
  const auto opening = letters.begin() + (kSpelled - 2);
  return fmt::format("{} then {} more then {}", fmt::join(letters.begin(), opening, " then "),
                     letters.end() - opening - 1, letters.back());
}

std::string symptom(const Finding& finding) {
  const std::string error = short_number(finding.error);
  const std::string tolerance = short_number(finding.tolerance);
  switch (finding.fingerprint) {
    case Fingerprint::mismatch:
      return fmt::format("differs, relative error {} (tolerance {})", error, tolerance);
    case Fingerprint::bits:
      return fmt::format("differs in its bits, relative error {} inside the tolerance {}", error,
                         tolerance);
    case Fingerprint::plan:
      return "is run another way";
    case Fingerprint::guard:
      return "writes past its buffers";
    case Fingerprint::unwritten:
      return "leaves output unwritten";
    case Fingerprint::input:
      return "changes its inputs";
    case Fingerprint::crash:
      return "crashes";
    case Fingerprint::timeout:
      return "does not end in time";
    case Fingerprint::error:
      return "cannot run";
    case Fingerprint::none:
      break;
  }
  return "shows no symptom";
}

std::string leak(const Finding& finding) {
  if (finding.carrier.empty()) {
    const bool expected = finding.kind == Kind::order_dependent;
    return expected ? fmt::format("; what leaked is not known [{}]", name(finding.grade)) : "";
  }
  std::string text = fmt::format("; leaked: {}", finding.carrier);
  if (!finding.cell.empty()) text += fmt::format("[{}]", finding.cell);
  const auto [built_for, used_for] = differing_entries(finding.built_for, finding.used_for);
  if (!built_for.empty()) text += ", built for " + built_for;
  if (!used_for.empty()) text += ", used for " + used_for;
  return text + fmt::format(" [{}]", name(finding.grade));
}

std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    entries.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> sequence_labels(const Finding& finding) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const std::string& step : steps_of(finding)) {
    if (std::ranges::none_of(labels, [&](const auto& label) { return label.second == step; })) {
      labels.emplace_back(letter(labels.size()), step);
    }
  }
  return labels;
}

std::string finding_sentence(const Finding& finding) {
  const std::vector<std::string> letters = letters_of_steps(finding);
  const std::string& victim = letters.back();
  const std::string history =
      letters.size() > 1 ? history_text(letters, finding.threads) + ": " : "";
  const std::string chance = finding.kind == Kind::unstable ? " now and then" : "";
  std::string what = fmt::format("{}{} {}", victim, chance, symptom(finding));
  if (finding.kind == Kind::unconfirmed)
    what = fmt::format("{} once {}; not confirmed: stopped", victim, symptom(finding));
  if (finding.role == Role::brittle) {
    what = letters.size() > 1 ? fmt::format("{} is right; alone it {}", victim, symptom(finding))
                              : what + ", but only alone";
  }
  return history + what + leak(finding);
}

std::pair<std::string, std::string> differing_entries(std::string_view built_for,
                                                      std::string_view used_for) {
  const auto axis = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  const auto built = entries_of(built_for);
  const auto used = entries_of(used_for);
  if (built_for == used_for || !std::ranges::equal(built, used, {}, axis, axis)) {
    return {std::string(built_for), std::string(used_for)};
  }
  std::vector<std::string_view> built_differing;
  std::vector<std::string_view> used_differing;
  for (std::size_t i = 0; i < built.size(); ++i) {
    if (built[i] == used[i]) continue;
    built_differing.push_back(built[i]);
    used_differing.push_back(used[i]);
  }
  return {fmt::format("{}", fmt::join(built_differing, ",")),
          fmt::format("{}", fmt::join(used_differing, ","))};
}

std::string short_number(double value) {
  std::string text = fmt::format("{:.2g}", value);
  if (const std::size_t at = text.find("e+"); at != std::string::npos) {
    const std::size_t digits = text.find_first_not_of('0', at + 2);
    text = text.substr(0, at + 1) + text.substr(digits);
  }
  return text;
}

std::string_view other_victims(const Finding& finding) {
  return finding.cell.empty() ? "other victims of what ran before" : "other victims of this state";
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace parity
