// Pictures as the program decodes them, beside those of cv::imread.
#pragma once

#include <optional>
#include <span>

#include "media/codec.hpp"
#include "tests/kit/encode.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

// Is OpenCV there to compare with? This does not depend on whether the program uses it.
constexpr bool has_oracle = FACESAT_ORACLE;

class CodecTest : public ProgramTest {
 protected:
  // A file with these bytes, decoded by cv::imread with IMREAD_COLOR or IMREAD_GRAYSCALE; nothing
  // if it cannot read it. Only if has_oracle.
  std::optional<Picture> imread(const Bytes& bytes, Reading reading = Reading::colour) const;

  // Expects that the program and cv::imread decode this file to the same pixels, or both refuse it,
  // and that the pixels are the same where they need no decoding.
  // Returns the program's picture.
  std::optional<Picture> compare(const Bytes& bytes, Reading reading = Reading::colour) const;
};

// Skips its tests where there is nothing to compare with.
class ComparedTest : public CodecTest {
 protected:
  void SetUp() override {
    if (!has_oracle) GTEST_SKIP() << "skipped: OpenCV is what they are compared with";
  }
};

// The decoded picture; nothing if it is refused, with a sentence.
std::optional<Picture> try_read(std::span<const unsigned char> file,
                                Reading reading = Reading::colour);

// The kind and the message of the error that reading this file ends with; otherwise "read".
std::string refusal(const Bytes& file, const DecodeLimits& limits = {});

std::string warning_of(const Bytes& file);

// Expects that both pictures exist and have the same size and pixels, in colour or in luma.
void expect_same(const std::optional<Picture>& picture, const std::optional<Picture>& expected);

}  // namespace facesat::test
