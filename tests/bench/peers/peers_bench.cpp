// peers_bench: every leak class against every detector, as Markdown tables. Equal arguments print
// equal tables.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/errors.hpp"
#include "tests/bench/peers/detectors.hpp"
#include "tests/bench/peers/scoreboard.hpp"

namespace {

constexpr std::size_t kFewestCases = 12;
constexpr std::size_t kUsualCases = 48;
constexpr std::size_t kUsualPlacements = 20;

std::size_t parse_number(std::string_view flag, std::string_view word) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size())
    throw parity::UsageError(fmt::format("{} is '{}', but must be a number", flag, word));
  return number;
}

parity::Contest parse(const std::vector<std::string>& arguments) {
  parity::Contest contest{.cases = kUsualCases, .placements = kUsualPlacements};
  const std::map<std::string_view, std::size_t*> sizes = {{"--cases", &contest.cases},
                                                          {"--placements", &contest.placements},
                                                          {"--budget", &contest.budget}};
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const std::string& flag = arguments[i];
    if (i + 1 == arguments.size())
      throw parity::UsageError(fmt::format("{} must be followed by a number", flag));
    const std::size_t number = parse_number(flag, arguments[i + 1]);
    if (flag == "--seed")
      contest.seed = number;
    else if (const auto known = sizes.find(flag); known != sizes.end())
      *known->second = number;
    else
      throw parity::UsageError(fmt::format(
          "no argument is called '{}'; there are --cases, --placements, --budget, --seed", flag));
  }
  if (contest.cases < kFewestCases)
    throw parity::UsageError(
        fmt::format("--cases is {}, but must be at least {}", contest.cases, kFewestCases));
  return contest;
}

void run(const parity::Contest& contest) {
  const auto all = parity::detectors();
  std::vector<std::string> names;
  for (const auto& detector : all) names.emplace_back(detector->name());
  std::vector<std::vector<parity::Score>> by_class;
  for (const parity::LeakClass leak_class : parity::leak_classes()) {
    std::vector<parity::Score> scores;
    for (const auto& detector : all)
      scores.push_back(parity::score(*detector, leak_class, contest));
    fmt::print("{}\n", parity::table(leak_class, contest, names, scores));
    std::fflush(stdout);
    by_class.push_back(std::move(scores));
  }
  fmt::print(
      "### Exact sequences, and executions in process starts from the first sight to them\n\n{}",
      parity::summary(contest, names, by_class));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv, argv + argc}));
    return 0;
  } catch (const parity::UsageError& error) {
    std::fprintf(stderr, "peers_bench: %s\n", error.what());
    return 2;
  }
}
