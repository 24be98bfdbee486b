// Own ports of published ways to find order-dependent failures, and ours, to be compared.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "harness/orders.hpp"
#include "tests/bench/peers/detector.hpp"

namespace parity {

/// GoogleTest's --gtest_shuffle --gtest_repeat=10: ten shuffled rounds in one process, then the
/// next seeds in another. Says which seed failed, so its history is all of that round before the
/// victim.
std::unique_ptr<Detector> gtest_shuffle();

/// RSpec's --order random and, once something failed, --bisect with that seed: are the failures
/// there without the rest? If not, halves the rest recursively, leaving out one half or the other,
/// else both are searched.
std::unique_ptr<Detector> rspec_bisect();

/// detect-test-pollution --fuzz: shuffles until something fails, then assumes one polluter among
/// all other tests and bisects, the victim last.
std::unique_ptr<Detector> detect_test_pollution();

/// iDFlakies (Lam et al., ICST 2019): the original order, then random ones; what has another
/// result is tried again in the failing and in the passing order to tell order from chance. Then
/// iFixFlakies (Shi et al., FSE 2019): ddmin of what ran before the victim, or of what ran before a
/// brittle test that passed.
std::unique_ptr<Detector> idflakies();

/// The Tuscan plan, then investigate(). Without probes it is told of no cell and can restore
/// nothing.
std::unique_ptr<Detector> parity_detector(bool probes);

/// All of them, ours last.
std::vector<std::unique_ptr<Detector>> detectors();

/// ddmin (Zeller and Hildebrandt, TSE 2002): a 1-minimal part of `items`, which fail; the order is
/// kept. No part is tried twice.
Order ddmin(Order items, const std::function<bool(const Order&)>& fails);

}  // namespace parity
