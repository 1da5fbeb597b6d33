// A JPEG as the kernels read it: what its headers say, tables for decoding, and the bits of its
// scan without stuffed bytes, cut into pieces that are decoded in parallel.
//
// Source: ITU-T T.81 (1992). What is taken, and how, is what libjpeg-turbo does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/image.hpp"

namespace facesat::gpu {

constexpr int most_blocks_of_mcu = 10;  // as in T.81
constexpr int pixels_of_block = 64;     // 8x8

// What a Huffman code says, in a word. Bits 0 .. 5: how many bits the code and the value after it
// have together. Bits 8 .. 12: how many the code has. Bits 16 .. 22: by how much the index of the
// coefficient grows; the value is that of the last coefficient passed.
using JpegCode = std::uint32_t;

constexpr JpegCode jpeg_code(int bits, int value_bits, int step) {
  return static_cast<JpegCode>((bits + value_bits) | bits << 8 | step << 16);
}

// A Huffman table. Codes of a length are consecutive numbers, and those of longer codes follow.
struct alignas(16) HuffmanTable {
  static constexpr int most_bits = 16, lookup_bits = 10;
  JpegCode lookup[1 << lookup_bits];  // by the next bits; 0: the code is longer, or there is none
  // By length: codes of up to this length, shifted to the left to have 16 bits, are below `limit`;
  // a code plus `to_place` is its index in `codes`.
  std::int32_t limit[most_bits + 1], to_place[most_bits + 1];
  JpegCode codes[256];
};

// One of the components of a scan: luma, or one of two of chroma.
struct JpegComponent {
  int h, v;                // blocks per MCU (minimum coded unit), across and down
  int dc_table, ac_table;  // indices in JpegHeader::tables
  Size size;               // in samples, as far as the image reaches
  Size blocks;             // of whole MCUs
  int first_block;         // its place among the blocks of all components
  std::uint16_t quantisers[pixels_of_block];  // of coefficients, in zigzag order
};

struct JpegHeader {
  Size size;                // of the image, in pixels
  int component_count = 0;  // 1 or 3
  JpegComponent components[3]{};
  HuffmanTable tables[4]{};  // DC 0 and 1, AC 0 and 1
  Size mcus;                 // across and down
  int blocks_of_mcu = 0;
  // Of each block of an MCU, from the lowest bits on: two bits, the number of its component.
  std::uint32_t component_of_blocks = 0;
  int segment_mcus = 0;  // between two restart markers
  int segment_count = 0, piece_count = 0;
  int word_count = 0;  // of bits, with those to read ahead
  int guesses = 0;     // decoders per piece: one for each block of an MCU and each first bit

  constexpr int block_count() const { return mcus.width * mcus.height * blocks_of_mcu; }
};

// The bits between two restart markers.
struct JpegSegment {
  std::uint32_t first_word;  // counted from JpegStream::bits_at
  std::uint32_t bits;
  std::uint32_t first_piece;
};

// A segment is decoded in pieces of this many bits.
constexpr std::uint32_t piece_bits = 256;

struct JpegStream {
  JpegHeader header;
  std::vector<JpegSegment> segments;
  std::span<const unsigned char> metadata;  // in the file: its first APP1 segment, as for EXIF data
  std::size_t end = 0;                      // of the picture in the file, in bytes

  // What devices get, in one piece, from frame_memory(): the header, from its beginning on; the
  // bits of all segments, each from a new word on, as in the file; and the segments. Four more
  // words follow the bits, so that reading ahead is permitted.
  std::span<const unsigned char> block;
  std::size_t bits_at = 0, segments_at = 0;  // in bytes
  std::shared_ptr<const void> owner;         // of the block
};

// Reads a file. A sentence says why the kernels cannot decode it, though
// libjpeg-turbo may: kinds of JPEG other than baseline and extended sequential with 8 bits in grey
// or YCbCr, subsamplings that are rare, and everything that libjpeg-turbo has a warning or an error
// for, as far as it can be seen here. Throws MemoryError.
std::variant<JpegStream, std::string> read_jpeg_stream(std::span<const unsigned char> file,
                                                       std::size_t max_pixels);

}  // namespace facesat::gpu
