// Decodes JPEGs on the device, to the pixels of libjpeg-turbo: entropy decoding, dequantisation and
// inverse DCT, upsampling of chroma, and conversion to BGR or grey.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/stream.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"

namespace facesat::gpu {

// Where decoding of a piece begins or ends: bits past the beginning of the piece (or, at its end,
// of the next one), block within the MCU, and coefficient within the block.
using JpegPlace = std::uint32_t;
constexpr JpegPlace unknown_place = ~JpegPlace{0};

// What pieces add: whole blocks, and the differences of DC coefficients of each component. Damaged
// bits may let sums wrap around.
struct alignas(16) JpegSums {
  std::uint32_t blocks, dc[3];
};

// Pieces are summed in groups.
constexpr int pieces_of_group = 128;

// The lengths of arrays: of exits and entries, for a number of pieces. See piece_begins.cu.
constexpr std::size_t exits_of(std::size_t pieces) {
  return (pieces / 32 + 1) * 128;
}
constexpr std::size_t entries_of(std::size_t pieces) {
  return pieces / 32 + 1;
}

// A JpegStream in device memory, and memory to work in. Arrays start on 16-byte boundaries.
struct JpegTask {
  // JpegStream::block.
  const JpegHeader* header;
  const JpegSegment* segments;
  const std::uint32_t* words;

  JpegPlace* guess_ends;          // for each piece and guess: where the decoder ends the piece
  std::uint8_t* links;            // for each piece and guess
  std::uint8_t *exits, *entries;  // of blocks of pieces
  JpegPlace *begins, *ends;       // of pieces
  JpegSums* sums;                 // of pieces: their own, then of those before in the group
  JpegSums* groups;               // of groups
  std::int16_t* coefficients;     // pixels_of_block for each block, in zigzag order
  std::uint8_t* samples;          // of components, each at 64 times its first block, row by row
  // Must be 0; becomes 1 if the picture does not count. May be in page-locked host memory.
  unsigned* has_failed;
};

// A task in device memory, which begins on a 16-byte boundary and with JpegStream::block, to be
// copied there; and how much it needs.
std::size_t jpeg_task_bytes(const JpegStream& jpeg);
JpegTask jpeg_task_in(std::byte* memory, const JpegStream& jpeg, unsigned* has_failed);

// Enqueues the decoding of the picture, whose header is `header`. `luma` gets what libjpeg-turbo
// gives for JCS_GRAYSCALE, `colour` what it gives for JCS_EXT_BGR; either is turned upright from an
// EXIF orientation (1 .. 8; 0: as it is), and has the size of the picture that results.
//
// Decoding fails for damaged bits, and for bits of which too many pieces must be decoded one after
// the other: where a picture has one colour, decoders that begin at a wrong place may never find
// the right one. Whether decoding such bits fails may differ from one run to the next.
void enqueue_jpeg(const JpegTask& task, const JpegHeader& header, int orientation,
                  View<std::uint8_t> luma, StreamHandle stream);
void enqueue_jpeg(const JpegTask& task, const JpegHeader& header, int orientation, View<Bgr> colour,
                  StreamHandle stream);

// The first part of it, from bits to coefficients; and the first part of that: `begins`, `ends`
// and, of pieces alone, `sums`. A beginning that could not be found is unknown_place.
void enqueue_coefficients(const JpegTask& task, const JpegHeader& header, StreamHandle stream);
void enqueue_piece_begins(const JpegTask& task, const JpegHeader& header, StreamHandle stream);

}  // namespace facesat::gpu
