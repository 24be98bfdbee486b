// Philox and Gumbel noise as kernel text has them: against published known answers, at the ends of
// the words, and the bound that lets a kernel leave logarithms out.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "datasets/fill.hpp"
#include "datasets/philox.hpp"
#include "tests/host_kernel.hpp"

namespace parity {
namespace {

/// Embedded kernel text without its includes.
std::string text_of(std::string_view file) {
  std::string text;
  for (const auto& [name, content] : kernel_texts()) {
    if (name != file) continue;
    std::istringstream lines{std::string(content)};
    for (std::string line; std::getline(lines, line);)
      if (!line.starts_with("#include") && !line.starts_with("#pragma once")) text += line + "\n";
  }
  return text;
}

std::string with_noise(const std::string& body) {
  return text_of("numeric.cuh") + text_of("philox.cuh") + text_of("gumbel_noise.cuh") + body;
}

using Words = std::array<std::uint32_t, 4>;

/// The words of n sixes of counter and key in u, each in the first four of its six.
constexpr const char* kPhilox = R"(
PARITY_KERNEL(probe, TestParams, 32) {
  for (u32 i = thread_x(); i < p.n; i += 32) {
    u32* const u = p.u + 6 * i;
    const PhiloxWords words =
        philox4x32(u[0], u[1], u[2], u[3], static_cast<u64>(u[5]) << 32 | u[4]);
    for (u32 j = 0; j < 4; ++j) u[j] = words.word[j];
  }
})";

Words device_philox(HostKernel& kernel, Words counter, std::array<std::uint32_t, 2> key) {
  std::array<std::uint32_t, 6> u = {counter[0], counter[1], counter[2], counter[3], key[0], key[1]};
  kernel.run({.u = u.data(), .n = 1}, 32);
  return {u[0], u[1], u[2], u[3]};
}

/// Random123's kat_vectors, philox4x32 10.
TEST(DevicePhiloxTest, PublishedKnownAnswers) {
  HostKernel kernel(with_noise(kPhilox));
  EXPECT_EQ(device_philox(kernel, {0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(device_philox(kernel, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                          {0xffffffff, 0xffffffff}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(device_philox(kernel, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                          {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(DevicePhiloxTest, EqualsTheDataLibrarysOwnText) {
  HostKernel kernel(with_noise(kPhilox));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto word = [i](std::uint64_t j) { return random_word(3, 1, 6 * i + j); };
    const Words counter = {word(0), word(1), word(2), word(3)};
    ASSERT_EQ(device_philox(kernel, counter, {word(4), word(5)}),
              philox4x32(counter, {word(4), word(5)}));
  }
}

/// In f, of the n words in u: uniform, noise and bound.
constexpr const char* kNoise = R"(
PARITY_KERNEL(probe, TestParams, 32) {
  for (u32 i = thread_x(); i < p.n; i += 32) {
    p.f[3 * i] = uniform_of(p.u[i]);
    p.f[3 * i + 1] = gumbel_noise(p.u[i]);
    p.f[3 * i + 2] = gumbel_noise_bound(p.u[i]);
  }
})";

struct Noise {
  float uniform, noise, bound;
};

std::vector<Noise> noise_of(std::vector<std::uint32_t> words) {
  HostKernel kernel(with_noise(kNoise));
  std::vector<Noise> noise(words.size());
  kernel.run({.f = &noise.front().uniform,
              .u = words.data(),
              .n = static_cast<std::uint32_t>(words.size())},
             32);
  return noise;
}

/// Around each power of two, all over, and the ends.
std::vector<std::uint32_t> telling_words() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t bit = 0; bit < 32; ++bit)
    for (std::uint32_t off = 0; off < 9; ++off) words.push_back((1u << bit) - 4 + off);
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const std::uint32_t word = random_word(1, 2, i);
    words.push_back(word >> i % 32);
    words.push_back(~(word >> i % 32));
  }
  return words;
}

/// C1: the ends, one word inside them, and the middle.
TEST(GumbelNoiseTest, TheEndsOfTheWordsAreFiniteAndInOrder) {
  const std::vector<Noise> noise = noise_of({0, 1, 0x7fffffff, 0xfffffffe, 0xffffffff});
  EXPECT_EQ(noise[0].uniform, 0x1p-33f);
  EXPECT_EQ(noise[1].uniform, 0x1.8p-32f);
  EXPECT_EQ(noise[2].uniform, 0.5f);
  EXPECT_EQ(noise[3].uniform, 1.0f - 0x1p-24f);
  EXPECT_EQ(noise[4].uniform, 1.0f - 0x1p-24f) << "never 1";
  EXPECT_NEAR(noise[0].noise, 33 * std::log(2.0), 2e-6);
  EXPECT_NEAR(noise[1].noise, 33 * std::log(2.0) - std::log(3.0), 2e-6);
  EXPECT_NEAR(noise[2].noise, -std::log(std::log(2.0)), 1e-7);
  EXPECT_NEAR(noise[4].noise, -std::log(24 * std::log(2.0)), 1e-6);
}

TEST(GumbelNoiseTest, IsTheDoubleFormulaToTwoUnitsInTheLastPlace) {
  const std::vector<std::uint32_t> words = telling_words();
  const std::vector<Noise> noise = noise_of(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double v = noise[i].uniform;
    ASSERT_GT(v, 0.0);
    ASSERT_LT(v, 1.0);
    ASSERT_NEAR(v, std::min((words[i] + 0.5) * 0x1p-32, 1 - 0x1p-24), 0x1.8p-24 * v)
        << "two roundings";
    const double exact = -std::log(-std::log1p(-v));
    ASSERT_NEAR(noise[i].noise, exact, 0x1p-22 * std::max(1.0, std::abs(exact))) << words[i];
  }
}

TEST(GumbelNoiseTest, IsNeverAboveItsBoundWhichIsClose) {
  const std::vector<std::uint32_t> words = telling_words();
  const std::vector<Noise> noise = noise_of(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ASSERT_LE(noise[i].noise, noise[i].bound + 1.5e-5f) << words[i];
    if (noise[i].noise > 3) {
      ASSERT_LE(noise[i].bound, noise[i].noise + 0.09f) << words[i];
    }
  }
}

/// In u: 1 where the element is left out although it is not below the floor, 2 where it was left
/// out. Its floor is its own score, or that times 1 + 2^-12 + a little: as close as a kernel's can
/// be.
constexpr const char* kLeftOut = R"(
PARITY_KERNEL(probe, TestParams, 32) {
  for (u32 i = thread_x(); i < p.n; i += 32) {
    const u32 word = p.u[i];
    const f32 logit = p.f[2 * i];
    const f32 temperature = p.f[2 * i + 1];
    const f32 score = gumbel_score(logit, temperature, word);
    const f32 above = score + (score < 0.0f ? -score : score) * 0x1p-12f + 0.2f;
    p.u[i] = is_below(score, logit, 1.0f / temperature, word) ? 1
             : is_below(above, logit, 1.0f / temperature, word) ? 2 : 0;
  }
})";

TEST(GumbelNoiseTest, NoElementIsLeftOutUnlessItsScoreIsBelow) {
  std::vector<std::uint32_t> words = telling_words();
  std::vector<float> f;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(i % 180) - 60);
    f.push_back(static_cast<float>(normal_element(5, 0, i) * scale));
    f.push_back(static_cast<float>(1e-5 * std::pow(2.0, static_cast<double>(i % 97) / 4)));
  }
  const std::size_t all = words.size();
  HostKernel kernel(with_noise(kLeftOut));
  kernel.run({.f = f.data(), .u = words.data(), .n = static_cast<std::uint32_t>(all)}, 32);
  EXPECT_EQ(std::ranges::count(words, 1u), 0);
  EXPECT_GT(static_cast<std::size_t>(std::ranges::count(words, 2u)), all / 4)
      << "the bound leaves out what it is there to leave out";
}

}  // namespace
}  // namespace parity
