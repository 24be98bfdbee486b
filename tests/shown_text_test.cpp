// What a person is shown of names and messages that may hold anything.
#include "harness/shown_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace parity {
namespace {

TEST(ShownTextTest, PrintableTextOfAnyAlphabetIsLeftAsItIs) {
  for (const std::string text :
       {"", "plain /a/path 'b'", "Gr\u00fc\u00dfe \u0436 \u6f22 \U0001f600"}) {
    EXPECT_TRUE(is_utf8(text));
    EXPECT_EQ(shown(text), text);
    EXPECT_EQ(shown_line(text), text);
  }
}

TEST(ShownTextTest, WhatMovesACursorIsEscaped) {
  EXPECT_EQ(shown("a\nb\x1b[31m\x7f\t"), R"(a\x0ab\x1b[31m\x7f\x09)");
  EXPECT_EQ(shown("\u009b31m"), R"(\xc2\x9b31m)") << "C1, which terminals obey too";
  EXPECT_EQ(shown(std::string("a\0b", 3)), R"(a\x00b)");
}

TEST(ShownTextTest, BytesThatAreNotUtf8AreEscapedOneByOne) {
  const std::string_view wrong[] = {
      "\xff", "\x80", "\xc3", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
  for (const std::string_view text : wrong) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(shown(text).size(), 4 * text.size()) << shown(text);
  }
  EXPECT_EQ(shown_line("a\xff\u00fc"), "a\\xff\u00fc");
}

TEST(ShownTextTest, LinesOfATextStay) {
  EXPECT_EQ(shown_lines(""), "");
  EXPECT_EQ(shown_lines("a\x1b\n\nb\r\xff\n"), "a\\x1b\n\nb\\x0d\\xff\n");
}

TEST(ShownTextTest, OnlyANameHasItsBackslashesEscaped) {
  EXPECT_EQ(shown(R"(a\x0a)"), R"(a\x5cx0a)");
  EXPECT_EQ(shown_line(R"(run 'it'\''s')"), R"(run 'it'\''s')");
}

}  // namespace
}  // namespace parity
