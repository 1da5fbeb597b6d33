// Generated files of all formats, as bytes: pictures of every kind, parts of them, tar archives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "facesat/types.hpp"

namespace facesat::test {

using Bytes = std::vector<unsigned char>;

Bytes noise(std::size_t count, unsigned seed);  // random bytes
Bytes bytes_of(std::string_view text);
Bytes joined(Bytes first, const Bytes& second);

enum class ByteOrder { little, big };
void append_number(Bytes& to, std::uint64_t value, int bytes, ByteOrder order = ByteOrder::little);

// The file with `bytes` inserted at `at`.
Bytes with_bytes(Bytes file, std::size_t at, const Bytes& bytes);

// ---- JPEG

struct JpegKind {
  int channels = 3, across = 1, down = 1;  // across, down: luma samples per chroma sample
  bool ycck = false;                       // of four channels: YCCK instead of CMYK
  bool progressive = false;
  int orientation = 0;  // 0: no EXIF data
};

Bytes encode_jpeg(Size size, const JpegKind& kind);

// A segment of a JPEG: marker, length, signature, data.
Bytes segment(unsigned char marker, std::string_view signature, const Bytes& data = {});

// A JPEG's EXIF segment, without marker and length.
Bytes exif_with(int orientation);

// ---- PNG

struct PngKind {
  int colour_type, bits;
  bool interlaced = false, transparent = false;  // transparent: with a tRNS chunk
};

Bytes encode_png(Size size, const PngKind& kind);

// The length of a PNG's signature and first chunk: where the second one begins.
constexpr std::size_t after_header = 33;

// The PNG with another chunk, inserted at `at`.
Bytes with_chunk(Bytes png, std::size_t at, std::string_view type, const Bytes& data);

// ---- BMP

struct BmpKind {
  int bits;
  unsigned compression = 0;  // 0: none, 1: RLE8, 2: RLE4, 3: masks
  int header = 40;
  bool top_down = false;
  unsigned colours = 0;  // 0: as many as the pixels can have
  Bytes after_header = {};
};

// The bytes of a row of pixels.
std::size_t bmp_row(int width, int bits);

// `palette`: blue, green, red and, except for OS/2, 0 of each colour.
Bytes encode_bmp(Size size, const BmpKind& kind, const Bytes& palette, const Bytes& data);
Bytes encode_bmp(Size size, const BmpKind& kind);
Bytes masks(std::uint32_t red, std::uint32_t green, std::uint32_t blue);

// Runs, unencoded pixels, jumps, rows that end early, and an end that comes early or is missing.
Bytes random_rle(Size size, int bits, unsigned seed);

// ---- PNM, WebP, TIFF

// `kind`: '1' to '6'.
Bytes encode_pnm(char kind, Size size, int maximum, unsigned seed);

#if FACESAT_WEBP
Bytes encode_webp(Size size, bool has_alpha, bool lossless, float quality);
Bytes animated_webp(Size size);  // two frames that fill the canvas
#endif

#if FACESAT_TIFF
struct TiffKind {
  std::uint16_t photometric, samples, bits, compression = 1;  // 1: none
  std::uint16_t planar = 1, orientation = 0;   // planar 1: the samples of a pixel are together
  std::uint32_t rows_per_strip = 5, tile = 0;  // tile: its width and height; 0: strips
  const char* mode = "w";                      // "wb": big-endian, "w8": BigTIFF
  int pages = 1;
  std::uint32_t subfile_type_of_next = 0;
};

// Empty if libtiff does not write this kind.
Bytes encode_tiff(const std::filesystem::path& file, Size size, const TiffKind& kind);
#endif

// ---- GIF

// A GIF of 1 x 1 pixel, white and black in turn, that shows each frame for that many hundredths of
// a second.
inline std::string gif(const std::vector<int>& delays) {
  using namespace std::string_literals;
  std::string file = "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF"s;  // black and white
  for (std::size_t i = 0; i < delays.size(); ++i)
    file += "\x21\xF9\4\0"s + static_cast<char>(delays[i] % 256) +
            static_cast<char>(delays[i] / 256) + "\0\0"s + "\x2C\0\0\0\0\1\0\1\0\0\2\2"s +
            (i % 2 == 0 ? "\x4C\1\0"s : "\x44\1\0"s);
  return file + "\x3B";
}

// ---- tar

enum class TarFormat { ustar, pax, gnu };

struct TarMember {
  enum class Kind { file, folder, symbolic_link, hard_link, pipe, device };
  std::string name, bytes;  // bytes: of a link, where it leads
  Kind kind = Kind::file;
};

void write_tar(const std::filesystem::path& file, const std::vector<TarMember>& members,
               TarFormat format = TarFormat::pax);

// One block of 512 bytes: the header of a member, of the kind that `type` says ('0': a file).
std::string tar_header(const std::string& name, std::uint64_t size, char type = '0');

// The files below a folder as members, in name order.
std::vector<TarMember> members_of_folder(const std::filesystem::path& folder);

}  // namespace facesat::test
