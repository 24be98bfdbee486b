// What fuzzing looks for, on damage that is made here and takes seconds: a real pack with every
// region changed in turn, and cut at every boundary of a chunk.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/pack_fuzz.hpp"
#include "tests/pack_fixture.hpp"

namespace parity {
namespace {

/// Places where HDF5 begins something: signatures of its blocks, and what it calls FRHP, FADB,
/// OHDR.
std::vector<std::size_t> boundaries(const std::string& pack) {
  std::vector<std::size_t> found;
  for (const std::string signature :
       {"OHDR", "OCHK", "FRHP", "FHDB", "BTHD", "BTLF", "FAHD", "FADB", "FSHD", "FSSE", "\x89HDF"})
    for (std::size_t at = pack.find(signature); at != std::string::npos;
         at = pack.find(signature, at + 1))
      found.push_back(at);
  std::ranges::sort(found);
  return found;
}

class PackFuzzTest : public PackTest {
 protected:
  PackFuzzTest() {
    std::vector<PackCase> cases;
    // More than eight cases and inputs make HDF5 keep its links in heaps and trees.
    for (int i = 0; i < 10; ++i) cases.push_back(attention_case("case/" + std::to_string(i)));
    for (std::size_t i = 1; i < cases.size(); ++i) cases[i].inputs.resize(i == 1 ? 1 : 0);
    for (std::size_t i = 1; i < cases.size(); ++i) cases[i].outputs.clear();
    write_pack(path_, cases);
    whole_ = bytes_of(path_);
  }
  std::string whole_;
};

TEST_F(PackFuzzTest, ASoundPackIsReadBothWays) {
  const fuzz::Seen seen = fuzz::read_as_is_and_sealed(whole_);
  EXPECT_TRUE(seen.as_is && seen.sealed);
}

TEST_F(PackFuzzTest, EveryRegionChangedIsRefused) {
  const int status =
      in_child([&] {
        std::size_t refused = 0;
        std::size_t tried = 0;
        for (std::size_t at = 0; at < whole_.size(); at += 61, ++tried) {
          std::string damaged = whole_;
          const std::size_t count = std::min<std::size_t>(1 + at % 9, damaged.size() - at);
          for (std::size_t i = at; i < at + count; ++i) damaged[i] = static_cast<char>(~damaged[i]);
          const fuzz::Seen seen = fuzz::read_as_is_and_sealed(damaged);
          EXPECT_FALSE(seen.as_is) << at;
          if (!seen.sealed) ++refused;
        }
        EXPECT_GT(refused, tried / 2)
            << "what belongs to nothing may be anything, behind its own block";
      });
  EXPECT_EQ(status, 0);
}

TEST_F(PackFuzzTest, EveryBoundaryIsAPlaceToBeCutAt) {
  const std::vector<std::size_t> places = boundaries(whole_);
  ASSERT_GT(places.size(), 30u);
  const int status = in_child([&] {
    for (const std::size_t place : places)
      for (const std::size_t size : {place, place + 1, place + 4, place + 12}) {
        const fuzz::Seen seen =
            fuzz::read_as_is_and_sealed(std::string_view(whole_).substr(0, size));
        EXPECT_FALSE(seen.as_is || seen.sealed) << size << " of " << whole_.size();
      }
  });
  EXPECT_EQ(status, 0);
}

/// Blocks that are sound, but elsewhere: what a fuzzer does that splices.
TEST_F(PackFuzzTest, BlocksInEachOthersPlacesAreRefused) {
  const std::vector<std::size_t> places = boundaries(whole_);
  const int status = in_child([&] {
    for (std::size_t i = 1; i < places.size(); ++i) {
      std::string spliced = whole_;
      const std::size_t from = places[i - 1], to = places[i];
      const std::size_t size = std::min<std::size_t>(48, whole_.size() - to);
      std::copy_n(whole_.begin() + static_cast<std::ptrdiff_t>(from), size,
                  spliced.begin() + static_cast<std::ptrdiff_t>(to));
      const bool changed = spliced != whole_;
      EXPECT_EQ(fuzz::read_as_is_and_sealed(spliced).as_is, !changed) << from << " to " << to;
    }
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace parity
