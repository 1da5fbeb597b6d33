// Decodes a piece of a JPEG's bits from a given place on. Its users count what they need, or write
// coefficients.
//
// What takes time is a chain of dependent instructions for each code. Hence a loop with hardly a
// branch: a table tells by the next bits all that a code says, words are loaded before they are
// needed, and what is asked of the header for each code is in registers.
#pragma once

#include <cstddef>

#include "kernels/device/platform.hpp"
#include "kernels/jpeg/decode.hpp"

namespace facesat::gpu {

// ---- codes

constexpr int tables = 4, lengths = HuffmanTable::most_bits + 1, most_codes = 256;
constexpr JpegCode is_invalid = 1u << 31;

__device__ __forceinline__ int all_bits_of(JpegCode code) {
  return static_cast<int>(code & 63);
}
__device__ __forceinline__ int own_bits_of(JpegCode code) {
  return static_cast<int>(code >> 8 & 31);
}
__device__ __forceinline__ int step_of(JpegCode code) {
  return static_cast<int>(code >> 16 & 127);
}

// Smaller numbers than half of those with that many bits stand for negative values.
__device__ __forceinline__ int value_of(unsigned bits, JpegCode code) {
  const int own_bits = own_bits_of(code), count = all_bits_of(code) - own_bits;
  if (count == 0) return 0;
  const int value = static_cast<int>(bits << own_bits >> (32 - count));
  return value >> (count - 1) != 0 ? value : value - (1 << count) + 1;
}

// The Huffman tables of a header, in shared memory.
class Codes {
 public:
  // To be called by all threads, which must meet before decoding. All loads are under way at once:
  // with few threads, waiting for one after the other would take longer than decoding a piece.
  template <int threads>
  __device__ void load(const JpegHeader& header) {
    constexpr int vectors = tables * sizeof(HuffmanTable) / sizeof(uint4);
    const auto* const from = reinterpret_cast<const uint4*>(header.tables);
    FACESAT_UNROLL
    for (int first = 0; first < vectors; first += threads) {
      const int i = first + static_cast<int>(threadIdx.x);
      if (i >= vectors) continue;
      const uint4 four = from[i];
      words_[4 * i] = four.x;
      words_[4 * i + 1] = four.y;
      words_[4 * i + 2] = four.z;
      words_[4 * i + 3] = four.w;
    }
  }

  // The code at the beginning of these bits. If there is none, 16 bits are skipped.
  __device__ JpegCode next(int table, unsigned bits) {
    const auto next_bits = static_cast<int>(bits >> (32 - HuffmanTable::lookup_bits));
    const JpegCode code = words_[table * words_of_table + next_bits];
    return code != 0 ? code : next_long(table, static_cast<int>(bits >> 16));
  }

 private:
  static constexpr int words_of_table = sizeof(HuffmanTable) / sizeof(std::uint32_t);

  __device__ JpegCode next_long(int table, int bits) {
    const auto word = [&](std::size_t offset, int i) {
      return words_[table * words_of_table + static_cast<int>(offset / sizeof(std::uint32_t)) + i];
    };
    int length = HuffmanTable::lookup_bits + 1;
    FACESAT_UNROLL
    for (int i = length; i < lengths; ++i)
      length += bits >= static_cast<int>(word(offsetof(HuffmanTable, limit), i)) ? 1 : 0;
    if (length == lengths)
      return is_invalid | jpeg_code(HuffmanTable::most_bits, 0, table < 2 ? 1 : pixels_of_block);
    const int place = (bits >> (HuffmanTable::most_bits - length)) +
                      static_cast<int>(word(offsetof(HuffmanTable, to_place), length));
    return word(offsetof(HuffmanTable, codes), place & (most_codes - 1));
  }

  SharedArray<std::uint32_t, tables * words_of_table> words_;
};

// ---- a piece

constexpr int most_pieces_together = 128;  // of a block of threads
constexpr int words_of_piece = piece_bits / 32, words_ahead = 4;

// The words of pieces in a row, in shared memory: as in the file, where the first byte has the
// highest bits.
struct Words {
  SharedArray<std::uint32_t, most_pieces_together * words_of_piece + words_ahead> words;

  // To be called by all threads, which must meet before reading. The first word is that of a piece.
  __device__ void load(const JpegTask& task, int first) {
    const int count =
        min(most_pieces_together * words_of_piece + words_ahead, task.header->word_count - first);
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
      words[i] = task.words[first + i];
  }
};

// A word is loaded before it is needed.
class BitReader {
 public:
  // Begins at a bit of the word at `first`.
  __device__ BitReader(Words& words, int first, std::uint32_t bit)
      : words_(words),
        next_(first),
        high_(in_order(next())),
        low_(in_order(next())),
        after_(next()),
        bit_(bit) {}
  __device__ std::uint32_t bit() const { return bit_; }
  __device__ unsigned peek() const { return __funnelshift_l(low_, high_, bit_); }
  // Fewer than 32.
  __device__ void skip(int bits) {
    const std::uint32_t before = bit_;
    bit_ += static_cast<unsigned>(bits);
    if ((before ^ bit_) < 32) return;
    high_ = low_;
    low_ = in_order(after_);
    after_ = next();
  }

 private:
  __device__ static unsigned in_order(std::uint32_t word) { return __byte_perm(word, 0, 0x0123); }
  __device__ std::uint32_t next() { return words_.words[next_++]; }

  Words& words_;
  int next_;
  unsigned high_, low_;
  std::uint32_t after_, bit_;
};

// What decoding asks of the header for each code, in registers.
struct Layout {
  // By block of the MCU, four bits each: its tables, for DC and AC, and its component.
  unsigned tables = 0, components = 0;
  int end;  // four times the blocks of an MCU

  __device__ explicit Layout(const JpegHeader& header) : end(4 * header.blocks_of_mcu) {
    for (int block = 0; block < header.blocks_of_mcu; ++block) {
      const unsigned number = header.component_of_blocks >> 2 * block & 3;
      const JpegComponent& component = header.components[number];
      tables |= static_cast<unsigned>(component.dc_table | component.ac_table << 2) << 4 * block;
      components |= number << 4 * block;
    }
  }
};

// A block of the MCU is known by four times its number, for shifts.
struct BlockOfMcu {
  int times_four;

  __device__ int number() const { return times_four / 4; }
  __device__ int component(const Layout& layout) const {
    return static_cast<int>(layout.components >> times_four & 3);
  }
  __device__ int dc_table(const Layout& layout) const {
    return static_cast<int>(layout.tables >> times_four & 3);
  }
  __device__ int ac_table(const Layout& layout) const {
    return static_cast<int>(layout.tables >> (times_four + 2) & 3);
  }
  __device__ BlockOfMcu next(const Layout& layout) const {
    return {times_four + 4 == layout.end ? 0 : times_four + 4};
  }
};

__device__ __forceinline__ JpegPlace packed(std::uint32_t bits, BlockOfMcu block, int k) {
  return bits | static_cast<unsigned>(block.times_four) << 8 | static_cast<unsigned>(k) << 16;
}

struct Piece {
  int segment;
  int first_word;            // of the segment
  std::uint32_t begin, end;  // in bits of the segment
  std::uint32_t segment_bits;
  bool is_first, is_last;  // of its segment

  __device__ int word() const { return first_word + static_cast<int>(begin / 32); }
};

__device__ __forceinline__ Piece piece_of(const JpegTask& task, int number) {
  int first = 0, last = task.header->segment_count - 1;
  while (first < last) {
    const int middle = (first + last + 1) / 2;
    if (task.segments[middle].first_piece <= static_cast<unsigned>(number))
      first = middle;
    else
      last = middle - 1;
  }
  const JpegSegment segment = task.segments[first];
  const std::uint32_t begin =
      (static_cast<std::uint32_t>(number) - segment.first_piece) * piece_bits;
  const std::uint32_t end = min(begin + piece_bits, segment.bits);
  return {first,
          static_cast<int>(segment.first_word),
          begin,
          end,
          segment.bits,
          begin == 0,
          end == segment.bits};
}

// What a block of threads decodes with.
struct Decoder {
  Layout layout;
  Codes& codes;
  Words& words;
  int first_word;  // of `words`

  // Loads words, from those of piece `first` on; to be called by all threads, which have loaded the
  // codes.
  __device__ Decoder(const JpegTask& task, Codes& loaded, Words& own_words, int first)
      : layout(*task.header),
        codes(loaded),
        words(own_words),
        first_word(piece_of(task, first).word()) {
    words.load(task, first_word);
    __syncthreads();
  }

  template <class Use>
  __device__ JpegPlace decode(const Piece& piece, JpegPlace from, Use& use);
};

// Decodes the codes that begin in the piece, from `from` on. `use` is told of each DC difference
// and coefficient, of the end of each block and how many bits are then left of the segment, and of
// errors. Returns where the next piece begins.
template <class Use>
__device__ __forceinline__ JpegPlace Decoder::decode(const Piece& piece, JpegPlace from, Use& use) {
  BlockOfMcu block{static_cast<int>(from >> 8 & 255)};
  int k = static_cast<int>(from >> 16);
  int table = k == 0 ? block.dc_table(layout) : block.ac_table(layout);
  const std::uint32_t bit = piece.begin + (from & 255);
  BitReader reader(words, piece.first_word + static_cast<int>(bit / 32) - first_word, bit);
  while (reader.bit() < piece.end) {
    const unsigned bits = reader.peek();
    const JpegCode code = codes.next(table, bits);
    if (reader.bit() + static_cast<unsigned>(all_bits_of(code)) > piece.segment_bits) {
      // In the last piece, these may be the bits that fill up the last byte.
      if (!piece.is_last) use.error();
      break;
    }
    if ((code & is_invalid) != 0) use.error();
    reader.skip(all_bits_of(code));
    if (k == 0)
      use.dc(block, bits, code);
    else
      use.coefficient(k + step_of(code) - 1, bits, code);
    k += step_of(code);
    const bool is_end = k >= pixels_of_block;
    if (is_end) {
      k = 0;
      block = block.next(layout);
      use.end_block(block, piece.segment_bits - reader.bit());
    }
    table = is_end ? block.dc_table(layout) : block.ac_table(layout);
  }
  return packed(reader.bit() < piece.end ? 0 : reader.bit() - piece.end, block, k);
}

}  // namespace facesat::gpu
