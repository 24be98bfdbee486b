// The leaks, each as a predicate over what ran before.
#include "tests/leak_plants.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace parity {
namespace {

constexpr std::size_t kCounterRuns = 4;

constexpr std::array kClasses = {
    std::pair{LeakClass::sticky, "sticky"},
    std::pair{LeakClass::first_wins, "first-wins"},
    std::pair{LeakClass::last_writer, "last-writer-wins"},
    std::pair{LeakClass::counter, "counter, 4 runs"},
    std::pair{LeakClass::two_polluters, "two polluters"},
    std::pair{LeakClass::three_polluters, "three polluters"},
    std::pair{LeakClass::cleaner, "cleaners in between"},
    std::pair{LeakClass::brittle, "brittle"},
    std::pair{LeakClass::self_pollution, "self-pollution"},
    std::pair{LeakClass::drift, "drift in tolerance"},
    std::pair{LeakClass::crash, "crash"},
    std::pair{LeakClass::hang, "hang"},
    std::pair{LeakClass::race_90, "race, 90 %"},
    std::pair{LeakClass::race_30, "race, 30 %"},
    std::pair{LeakClass::flake_30, "flake, 30 %"},
    std::pair{LeakClass::noise, "permitted noise"},
    std::pair{LeakClass::clean, "clean suite"},
};

/// The case whose write the victim finds in the leak's cell.
using Writer = std::function<std::optional<std::size_t>(const Order& before)>;

/// The first (last) run before that is one of `of`.
Writer first_of(Order of) {
  return [of = std::move(of)](const Order& before) -> std::optional<std::size_t> {
    const auto found = std::ranges::find_if(before, [&](std::size_t c) { return has(of, c); });
    if (found == before.end()) return std::nullopt;
    return *found;
  };
}
Writer last_of(Order of) {
  return [of = std::move(of)](const Order& before) -> std::optional<std::size_t> {
    const auto found =
        std::find_if(before.rbegin(), before.rend(), [&](std::size_t c) { return has(of, c); });
    if (found == before.rend()) return std::nullopt;
    return *found;
  };
}
Writer last_run() {
  return [](const Order& before) {
    return before.empty() ? std::nullopt : std::optional(before.back());
  };
}

/// What a probe sees of one cell: the victim reads it, those in `writers` write it (none: all do).
LeakProbe probe_of(const SimulatedSuite& suite, std::size_t victim, const Order& writers,
                   const Writer& writer) {
  return [&suite, victim, writers, writer](const SimulatedRun& run) -> std::optional<CellSeen> {
    const bool writes = writers.empty() || has(writers, run.case_index);
    if (run.case_index != victim && !writes) return std::nullopt;
    CellSeen cell{std::string(kLeakCarrier), "cell", writes, {}, {}, suite.id(run.case_index)};
    if (run.case_index != victim) return cell;
    const std::optional<std::size_t> other = writer(run.before);
    cell.wrote = !other;
    if (other) cell.writer = suite.id(*other);
    return cell;
  };
}

bool has_all(const Order& order, const Order& wanted) {
  return std::ranges::all_of(wanted, [&](std::size_t c) { return has(order, c); });
}

std::size_t count_of(const Order& order, const Order& wanted) {
  return static_cast<std::size_t>(
      std::ranges::count_if(order, [&](std::size_t c) { return has(wanted, c); }));
}

Answer answer_of(LeakClass leak_class) {
  if (leak_class == LeakClass::crash) return Answer::crash;
  if (leak_class == LeakClass::hang) return Answer::hang;
  const bool drifts = leak_class == LeakClass::drift || leak_class == LeakClass::noise ||
                      leak_class == LeakClass::self_pollution;
  return drifts ? Answer::drifted : Answer::wrong;
}

double chance_of(LeakClass leak_class) {
  if (leak_class == LeakClass::race_90) return 0.9;
  if (leak_class == LeakClass::race_30 || leak_class == LeakClass::flake_30) return 0.3;
  return leak_class == LeakClass::noise ? 0.5 : 1;
}

/// Fills in `reaches`, and the probe of leaks that lie in a cell.
void place(LeakPlant& plant, const SimulatedSuite& suite, const Order& drawn) {
  const std::size_t victim = drawn[0];
  const std::size_t polluter = drawn[1];
  const auto drawn_from = [&](std::size_t first, std::size_t count) {
    const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(first);
    return Order(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  const auto by_writer = [&](const Order& writers, const Writer& writer) {
    plant.reaches = [=](const Order& before) { return writer(before) == polluter; };
    plant.probe = probe_of(suite, victim, writers, writer);
  };
  const auto by_all = [&](const Order& polluters) {
    plant.reaches = [=](const Order& before) { return has_all(before, polluters); };
    plant.probe = probe_of(suite, victim, polluters, last_of(polluters));
  };
  switch (plant.leak_class) {
    case LeakClass::first_wins:
      return by_writer(drawn_from(0, 3), first_of(drawn_from(0, 3)));
    case LeakClass::last_writer:
      return by_writer({}, last_run());
    case LeakClass::counter: {
      Order counted;
      for (std::size_t c = 0; c < suite.cases().size(); ++c)
        if (c % 2 == polluter % 2 && c != victim) counted.push_back(c);
      plant.reaches = [=](const Order& before) {
        return count_of(before, counted) >= kCounterRuns;
      };
      plant.probe = probe_of(suite, victim, counted, last_of(counted));
      return;
    }
    case LeakClass::two_polluters:
      return by_all(drawn_from(1, 2));
    case LeakClass::three_polluters:
      return by_all(drawn_from(1, 3));
    case LeakClass::cleaner: {
      const Order writers = drawn_from(1, 1 + suite.cases().size() / 6);
      return by_writer(writers, last_of(writers));
    }
    case LeakClass::self_pollution:
      return by_all({victim});
    case LeakClass::flake_30:
    case LeakClass::noise:
      plant.reaches = [](const Order&) { return true; };
      return;
    case LeakClass::clean:
      plant.reaches = [](const Order&) { return false; };
      return;
    default:
      return by_all({polluter});
  }
}

}  // namespace

std::span<const LeakClass> leak_classes() {
  static constexpr auto kAll = [] {
    std::array<LeakClass, kClasses.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kClasses[i].first;
    return all;
  }();
  return kAll;
}

std::string_view name(LeakClass leak_class) {
  const auto found =
      std::ranges::find(kClasses, leak_class, &decltype(kClasses)::value_type::first);
  return found->second;
}

bool LeakPlant::is_minimal(const Order& history) const {
  if (!reaches(history)) return false;
  for (std::size_t i = 0; i < history.size(); ++i) {
    Order without = history;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    if (reaches(without)) return false;
  }
  return true;
}

LeakPlant leak_plant(LeakClass leak_class, const SimulatedSuite& suite, std::uint64_t seed) {
  const Order drawn = random_orders(suite.cases().size(), 1, seed).front();
  LeakPlant plant;
  plant.leak_class = leak_class;
  plant.victim = drawn[0];
  plant.role = leak_class == LeakClass::brittle ? Role::brittle : Role::victim;
  plant.order_dependent = leak_class != LeakClass::flake_30 && leak_class != LeakClass::noise &&
                          leak_class != LeakClass::clean;
  place(plant, suite, drawn);
  const bool brittle = plant.role == Role::brittle;
  plant.leak = [victim = plant.victim, reaches = plant.reaches, brittle, seed,
                answer = answer_of(leak_class),
                chance = chance_of(leak_class)](const SimulatedRun& run) {
    if (run.case_index != victim || reaches(run.before) == brittle) return Answer::right;
    return chance == 1 || by_chance(chance, run.execution, seed) ? answer : Answer::right;
  };
  return plant;
}

SimulatedWorker worker_of(SimulatedSuite& suite, const LeakPlant& plant, bool probed) {
  SimulatedWorker worker(suite, plant.leak);
  worker.probed = probed;
  worker.carriers = {{}, {}, {}, {"everything"}};
  if (!probed) return worker;
  const std::string carrier(kLeakCarrier);
  worker.leak_carrier = carrier;
  worker.leak_probe = plant.probe;
  worker.carriers = {{carrier}, {carrier}, {carrier}, {}};
  return worker;
}

}  // namespace parity
