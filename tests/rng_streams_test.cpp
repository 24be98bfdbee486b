// Streams of random numbers: how far they were drawn from, by whom, and that it can be read,
// restored and set.
#include "device/rng_streams.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/errors.hpp"

namespace parity {
namespace {

using Cells = std::vector<CellState>;
using Touches = std::vector<CellTouch>;

class RngStreamsTest : public testing::Test {
 protected:
  std::uint64_t draw(const std::string& run, std::uint64_t steps) {
    trace_.begin(run);
    return streams_.draw("dither", steps, trace_);
  }

  Trace trace_;
  RngStreams streams_;
};

TEST_F(RngStreamsTest, AStreamGoesOnWhereItWasLeftAndTheTraceSaysByWhom) {
  EXPECT_EQ(draw("a", 3), 0u);
  EXPECT_EQ(trace_.take(), (Touches{{"rng_streams", "dither", true, "", "", "a"}}));
  EXPECT_EQ(draw("b", 2), 3u);
  EXPECT_EQ(trace_.take(), (Touches{{"rng_streams", "dither", false, "", "", "a"}}));
  trace_.begin("c");
  EXPECT_EQ(streams_.position("dither", trace_), 5u);
  EXPECT_EQ(trace_.take(), (Touches{{"rng_streams", "dither", false, "", "", "b"}}));
}

TEST_F(RngStreamsTest, WhatARunDrewItselfIsNotTheHistorys) {
  draw("a", 1);
  streams_.draw("dither", 1, trace_);
  EXPECT_EQ(streams_.position("dither", trace_), 2u);
  for (const CellTouch& touch : trace_.take()) EXPECT_TRUE(touch.wrote);
}

TEST_F(RngStreamsTest, WhereNothingWasDrawnNothingIsTouched) {
  trace_.begin("a");
  EXPECT_EQ(streams_.position("dither", trace_), 0u);
  EXPECT_TRUE(trace_.take().empty());
  EXPECT_TRUE(streams_.snapshot().empty());
}

TEST_F(RngStreamsTest, RestoredItIsAsFreshAndSetItStandsWhereItStood) {
  draw("a", 7);
  streams_.draw("bootstrap", 18446744073709551615u, trace_);
  const Cells left = streams_.snapshot();
  EXPECT_EQ(left, (Cells{{"bootstrap", "18446744073709551615"}, {"dither", "7"}}));
  streams_.restore();
  EXPECT_TRUE(streams_.snapshot().empty());
  streams_.set(left);
  EXPECT_EQ(streams_.snapshot(), left);
  EXPECT_EQ(draw("b", 1), 7u);
  EXPECT_EQ(trace_.take().back().writer, "");
}

TEST_F(RngStreamsTest, WhatIsNoCountIsRefusedBeforeAnythingChanges) {
  draw("a", 1);
  for (const char* wrong : {"", "-1", "1 ", "0x1", "18446744073709551616", "one"})
    EXPECT_THROW(streams_.set({{"dither", wrong}}), UsageError) << wrong;
  EXPECT_EQ(streams_.snapshot(), (Cells{{"dither", "1"}}));
}

}  // namespace
}  // namespace parity
