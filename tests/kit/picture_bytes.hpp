// Generated pictures: files of all kinds of formats, as bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "media/codec.hpp"
#include "tests/kit/program.hpp"

namespace facesat::test {

using Bytes = std::vector<unsigned char>;

// Is OpenCV there to compare with? This does not depend on whether the program uses it.
constexpr bool has_oracle = FACESAT_ORACLE;

// Random bytes.
Bytes noise(std::size_t count, unsigned seed);

struct JpegKind {
  int channels = 3, across = 1, down = 1;  // across, down: luma samples per chroma sample
  bool ycck = false;                       // of four channels: YCCK instead of CMYK
  bool progressive = false;
  int orientation = 0;  // 0: no EXIF data
};

// A JPEG's EXIF segment, without marker and length.
Bytes exif_with(int orientation);

Bytes encode_jpeg(Size size, const JpegKind& kind);

struct PngKind {
  int colour_type, bits;
  bool interlaced = false, transparent = false;  // transparent: with a tRNS chunk
};

Bytes encode_png(Size size, const PngKind& kind);

// The length of a PNG's signature and first chunk: where the second one begins.
constexpr std::size_t after_header = 33;

// The PNG with another chunk, inserted at `at`.
Bytes with_chunk(Bytes png, std::size_t at, std::string_view type, const Bytes& data);

// A segment of a JPEG: marker, length, signature, data.
Bytes segment(unsigned char marker, std::string_view signature, const Bytes& data = {});

// The file with `bytes` inserted at `at`.
Bytes with_bytes(Bytes file, std::size_t at, const Bytes& bytes);

class CodecTest : public ProgramTest {
 protected:
  // A file with these bytes, decoded by cv::imread with IMREAD_COLOR or IMREAD_GRAYSCALE; nothing
  // if it cannot read it. Only if has_oracle.
  std::optional<Picture> imread(const Bytes& bytes, Reading reading = Reading::colour) const;

  // Expects that the program and cv::imread decode this file to the same pixels, or both refuse it.
  // Returns the program's picture.
  std::optional<Picture> compare(const Bytes& bytes, Reading reading = Reading::colour) const;
};

// The decoded picture; nothing if it is refused, with a sentence.
std::optional<Picture> try_read(std::span<const unsigned char> file,
                                Reading reading = Reading::colour);

// Expects that both pictures exist and have the same size and pixels, in colour or in luma.
void expect_same(const std::optional<Picture>& picture, const std::optional<Picture>& expected);

}  // namespace facesat::test
