#include <gtest/gtest.h>

#include "support/text.hpp"

namespace facesat::app {
namespace {

TEST(Printable, TextStaysAsItIs) {
  for (const char* text : {"", "a b.jpg", "ünï-中文-😀.pgm", "\"quoted\\\""})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreSpelledOut) {
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("two\nlines\r\t\x7f"), "two\\x0alines\\x0d\\x09\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(printable("\xE2\x80\xAE"
                      "gpj"),
            "\\xe2\\x80\\xaegpj");  // right-to-left override
}

TEST(Printable, BytesThatAreNotUtf8AreSpelledOut) {
  EXPECT_EQ(printable("latin\xE9.jpg"), "latin\\xe9.jpg");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("\xC0\x9B"), "\\xc0\\x9b");                    // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // past the end of Unicode
  EXPECT_EQ(printable("end\xE4\xB8"), "end\\xe4\\xb8");              // cut off
}

}  // namespace
}  // namespace facesat::app
