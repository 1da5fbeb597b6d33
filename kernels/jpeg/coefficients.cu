// From the bits of a JPEG's scan to the coefficients of its blocks.
//
// Idea: codes have no fixed lengths, so where a piece's first code begins is known only once the
//   pieces before it are decoded. But a decoder that begins at a wrong place soon falls into step
//   with the right one, because it meets the end of a code by chance. Then it is in the right code,
//   but perhaps in the wrong block of the MCU, in which it stays for long where the picture is
//   smooth. So all pieces are decoded at once, by a decoder for each guess: a block of the MCU that
//   could begin there. Each decoder goes on through the next pieces until it ends a piece in the
//   same state as one of that piece's own decoders. So it has a link to that one, and from the
//   first piece on, links lead through the decoders that are right at the end of their pieces.
// Then: links are followed within blocks of pieces from all states in which a block may be entered,
//   from block to block, and within blocks from the right state. Where no decoder was met, a piece
//   begins elsewhere than the one before it has ended, and is decoded again, until nothing changes.
//   Prefix sums over the pieces' whole blocks and DC differences say which block a piece begins in,
//   and with which DC coefficients. With these, pieces are decoded once more, and coefficients are
//   written.
// Cost: with n guesses, bits are decoded 2 n + 2 times. But what takes time is a chain of dependent
//   instructions per code, of which a thread has piece_bits / 5 or so. Hence short pieces, and a
//   loop with hardly a branch: a table tells by the next bits all that a code says, and words are
//   loaded before they are needed.
// Source: S. T. Klein, Y. Wiseman, "Parallel Huffman Decoding with Applications to JPEG Files", The
//   Computer Journal 46(5), 2003; A. Weißenborn, B. Schmidt, "Accelerating JPEG Decompression on
//   GPUs", HiPC 2021. Different from the latter: guesses and links, without which smooth pictures
//   are decoded one piece after the other; and the sums of DC differences are those of pieces, so
//   that no pass over blocks is needed for them.
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/jpeg/decode.hpp"

namespace facesat::gpu {
namespace {

constexpr int piece_threads = pieces_of_group;  // of a block; each decodes a piece
constexpr int launches_to_join = 3;

// ---- codes

constexpr int tables = 4, lookup_size = 1 << HuffmanTable::lookup_bits,
              lengths = HuffmanTable::most_bits + 1, most_codes = 256;
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
struct Codes {
  SharedArray<JpegCode, tables * lookup_size> lookup;
  SharedArray<JpegCode, tables * most_codes> codes;
  SharedArray<std::int32_t, tables * lengths> limits, places;

  // To be called by all threads.
  __device__ void load(const JpegHeader& header) {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    for (int t = 0; t < tables; ++t) {
      const HuffmanTable& table = header.tables[t];
      for (int i = thread; i < lookup_size; i += threads)
        lookup[t * lookup_size + i] = table.lookup[i];
      for (int i = thread; i < most_codes; i += threads) codes[t * most_codes + i] = table.codes[i];
      if (thread < lengths) {
        limits[t * lengths + thread] = table.limit[thread];
        places[t * lengths + thread] = table.to_place[thread];
      }
    }
    __syncthreads();
  }

  // The code at the beginning of these bits. If there is none, 16 bits are skipped.
  __device__ JpegCode next(int table, unsigned bits) {
    const auto next_bits = static_cast<int>(bits >> (32 - HuffmanTable::lookup_bits));
    const JpegCode code = lookup[table * lookup_size + next_bits];
    return code != 0 ? code : next_long(table, static_cast<int>(bits >> 16));
  }

 private:
  __device__ JpegCode next_long(int table, int bits) {
    int length = HuffmanTable::lookup_bits + 1;
    FACESAT_UNROLL
    for (int i = length; i < lengths; ++i) length += bits >= limits[table * lengths + i] ? 1 : 0;
    if (length == lengths)
      return is_invalid | jpeg_code(HuffmanTable::most_bits, 0, table < 2 ? 1 : pixels_of_block);
    const int place =
        (bits >> (HuffmanTable::most_bits - length)) + places[table * lengths + length];
    return codes[table * most_codes + (place & (most_codes - 1))];
  }
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

  // Loads codes and words, to be called by all threads. `first`: the first piece.
  __device__ Decoder(const JpegTask& task, Codes& own_codes, Words& own_words, int first)
      : layout(*task.header),
        codes(own_codes),
        words(own_words),
        first_word(piece_of(task, first).word()) {
    words.load(task, first_word);
    codes.load(*task.header);
  }

  template <class Use>
  __device__ JpegPlace decode(const Piece& piece, JpegPlace from, Use& use);
};

// Decodes the codes that begin in the piece, from `from` on. `use` is told of each DC difference
// and coefficient, of the end of each block and how many bits are then left of the segment, and of
// errors. Returns where the next piece begins.
template <class Use>
__device__ JpegPlace Decoder::decode(const Piece& piece, JpegPlace from, Use& use) {
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

// ---- where pieces begin: guesses

constexpr int most_steps = 8;  // of a link: pieces that a decoder goes on
constexpr int guess_threads = 512;
constexpr int states = most_steps * 16;  // in which a block of pieces is entered

// A block of threads has as many pieces in a row, of which the last `most_steps` are also the first
// of the next block.
constexpr int pieces_together(const JpegHeader& header) {
  const int pieces = guess_threads / header.guesses;
  return pieces < most_pieces_together ? pieces : most_pieces_together;
}
constexpr int own_pieces(const JpegHeader& header) {
  return pieces_together(header) - most_steps;
}

// A link has its steps in the upper half of a byte, and the guess in the lower half. A state is the
// same with the number of pieces that are left out at a block's beginning.
__device__ __forceinline__ int steps_of(int link) {
  return link >> 4;
}
__device__ __forceinline__ int guess_of(int link) {
  return link & 15;
}

struct Nothing {
  __device__ void error() const {}
  __device__ void dc(BlockOfMcu, unsigned, JpegCode) const {}
  __device__ void coefficient(int, unsigned, JpegCode) const {}
  __device__ void end_block(BlockOfMcu, std::uint32_t) const {}
};

// Sets all coefficients to zero; most of them stay that.
__device__ void clear(std::int16_t* coefficients, int blocks) {
  constexpr int vector = sizeof(uint4) / sizeof(std::int16_t);
  auto* const vectors = reinterpret_cast<uint4*>(coefficients);
  const int count = blocks * (pixels_of_block / vector);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x))
    vectors[i] = make_uint4(0, 0, 0, 0);
}

__global__ void decode_guesses_kernel(JpegTask task, int piece_count) {
  __shared__ SharedArray<JpegPlace, guess_threads> ends;
  __shared__ SharedArray<std::uint8_t, guess_threads> links;
  __shared__ Codes codes;
  __shared__ Words words;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), guesses = header.guesses;
  const int own = own_pieces(header), first = static_cast<int>(blockIdx.x) * own;
  Decoder decoder(task, codes, words, first);
  clear(task.coefficients, header.block_count());
  const int piece_of_thread = thread / guesses, guess = thread % guesses;
  const int number = first + piece_of_thread;
  const bool is_there = piece_of_thread < pieces_together(header) && number < piece_count;
  Piece piece = is_there ? piece_of(task, number) : Piece{};
  Nothing use;
  JpegPlace end = 0;
  if (is_there) {
    const auto bit = static_cast<std::uint32_t>(guess / header.blocks_of_mcu);
    const BlockOfMcu block{4 * (guess % header.blocks_of_mcu)};
    end = decoder.decode(piece, packed(bit, block, 0), use);
  }
  ends[thread] = end;
  __syncthreads();
  if (is_there && piece_of_thread < own) {
    task.guess_ends[number * guesses + guess] = end;
    int link = 1 << 4;  // if no decoder is met, any one will do
    for (int steps = 1; steps <= most_steps; ++steps) {
      if (piece.is_last) {  // the next segment begins in its first block
        link = steps << 4;
        break;
      }
      piece = piece_of(task, number + steps);
      end = decoder.decode(piece, end, use);
      const int there = thread - guess + steps * guesses;
      int met = 0;
      while (met < guesses && ends[there + met] != end) ++met;
      if (met == guesses) continue;
      link = steps << 4 | met;
      break;
    }
    links[thread] = static_cast<std::uint8_t>(link);
    task.links[number * guesses + guess] = static_cast<std::uint8_t>(link);
  }
  __syncthreads();
  if (thread >= states) return;
  int at = steps_of(thread), state = guess_of(thread);
  while (at < own && first + at < piece_count && state < guesses) {
    const int link = links[at * guesses + state];
    at += steps_of(link);
    state = guess_of(link);
  }
  task.exits[blockIdx.x * states + thread] =
      static_cast<std::uint8_t>(max(at - own, 0) << 4 | state);
}

// One block: follows the links from block to block of pieces.
__global__ void enter_blocks_kernel(JpegTask task, int block_count) {
  constexpr int together = 128;
  __shared__ SharedArray<std::uint8_t, together * states> exits;
  const int thread = static_cast<int>(threadIdx.x);
  const auto* const from = reinterpret_cast<const std::uint32_t*>(task.exits);
  int state = 0;
  for (int first = 0; first < block_count; first += together) {
    const int count = min(together, block_count - first);
    for (int i = thread; i < count * states / 4; i += static_cast<int>(blockDim.x)) {
      const std::uint32_t four = from[first * (states / 4) + i];
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) exits[4 * i + k] = static_cast<std::uint8_t>(four >> 8 * k);
    }
    __syncthreads();
    for (int i = 0; thread == 0 && i < count; ++i) {
      task.entries[first + i] = static_cast<std::uint8_t>(state);
      state = exits[i * states + state];
    }
    __syncthreads();
  }
}

// ---- where pieces begin: the rest

struct Counter {
  const Layout& layout;
  JpegSums sums{};

  __device__ void error() const {}
  __device__ void dc(BlockOfMcu block, unsigned bits, JpegCode code) {
    const auto difference = static_cast<unsigned>(value_of(bits, code));
    FACESAT_UNROLL
    for (int c = 0; c < 3; ++c) sums.dc[c] += block.component(layout) == c ? difference : 0;
  }
  __device__ void coefficient(int, unsigned, JpegCode) const {}
  __device__ void end_block(BlockOfMcu, std::uint32_t) { ++sums.blocks; }
};

constexpr JpegPlace unknown = ~JpegPlace{0};

// Launched several times. At first, pieces begin where those before them have ended, as far as
// links lead there. Others follow once the piece before them has been decoded: first those that had
// no beginning, so that the wrong ends of guesses go no further. The first pieces of blocks of
// threads follow in the next launch. An end may be written while another block reads it: either
// value will do, because all places are verified afterwards.
//
// The pieces are those that follow a block's own ones, and the very first.
__global__ void join_pieces_kernel(JpegTask task, int piece_count, bool is_first_launch) {
  __shared__ SharedArray<JpegPlace, piece_threads> ends;
  __shared__ SharedArray<std::uint8_t, guess_threads> links;
  __shared__ SharedArray<int, piece_threads> chosen;  // guesses; negative: none
  __shared__ Codes codes;
  __shared__ Words words;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), guesses = header.guesses;
  const int own = own_pieces(header), first = static_cast<int>(blockIdx.x) * own;
  const int number = first + thread, first_thread = blockIdx.x == 0 ? 0 : 1;
  const bool is_there = thread >= first_thread && thread <= own && number < piece_count;
  const Piece piece = is_there ? piece_of(task, number) : Piece{};
  const bool follows = is_there && !piece.is_first;
  JpegPlace begin = unknown, end = unknown, before = unknown;
  if (is_there && !is_first_launch) {
    begin = task.begins[number];
    end = task.ends[number];
    before = number > 0 ? task.ends[number - 1] : unknown;
  }
  if (!is_first_launch && __syncthreads_or(follows && before != begin) == 0) return;
  Decoder decoder(task, codes, words, first);
  JpegSums sums{};
  const auto decode_from = [&](JpegPlace from) {
    Counter counter{decoder.layout};
    begin = from;
    end = decoder.decode(piece, from, counter);
    sums = counter.sums;
  };
  if (is_first_launch) {
    const int count = min(own, piece_count - first) * guesses;
    for (int i = thread; i < count; i += piece_threads) links[i] = task.links[first * guesses + i];
    chosen[thread] = -1;
    __syncthreads();
    if (thread == 0) {
      int at = steps_of(task.entries[blockIdx.x]), guess = guess_of(task.entries[blockIdx.x]);
      while (at < own && first + at < piece_count) {
        chosen[at] = guess;
        const int link = links[at * guesses + guess];
        at += steps_of(link);
        guess = guess_of(link);
      }
    }
    __syncthreads();
    const int guess = thread > 0 ? chosen[thread - 1] : -1;
    if (follows && guess >= 0) decode_from(task.guess_ends[(number - 1) * guesses + guess]);
    if (is_there && !follows) decode_from(0);
  }
  bool has_changed = is_first_launch;
  for (int round = 0; round < 2 * piece_threads; ++round) {
    ends[thread] = end;
    __syncthreads();
    if (thread > first_thread) before = ends[thread - 1];
    bool must_change = follows && before != unknown && before != begin;
    const bool has_no_beginning = must_change && begin == unknown;
    if (__syncthreads_or(has_no_beginning) != 0)
      must_change = has_no_beginning;
    else if (__syncthreads_or(must_change) == 0)
      break;
    if (!must_change) continue;
    decode_from(before);
    has_changed = true;
  }
  if (!is_there || !has_changed) return;
  task.begins[number] = begin;
  task.ends[number] = end;
  task.sums[number] = sums;
}

// ---- what is before each piece

__device__ __forceinline__ JpegSums operator+(JpegSums sums, const JpegSums& more) {
  sums.blocks += more.blocks;
  FACESAT_UNROLL
  for (int c = 0; c < 3; ++c) sums.dc[c] += more.dc[c];
  return sums;
}
__device__ __forceinline__ JpegSums operator-(JpegSums sums, const JpegSums& less) {
  sums.blocks -= less.blocks;
  FACESAT_UNROLL
  for (int c = 0; c < 3; ++c) sums.dc[c] -= less.dc[c];
  return sums;
}

// Prefix sums over the threads of a block.
class SumsOfThreads {
 public:
  // Returns the sums of all threads before this one, and those of all.
  __device__ JpegSums before(const JpegSums& own, JpegSums& all) {
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const JpegSums up_to{warp_inclusive_scan(own.blocks),
                         {warp_inclusive_scan(own.dc[0]), warp_inclusive_scan(own.dc[1]),
                          warp_inclusive_scan(own.dc[2])}};
    if (threadIdx.x % 32 == 31) warps_[warp] = up_to;
    __syncthreads();
    JpegSums before{};
    all = {};
    for (int w = 0; w < piece_threads / 32; ++w) {
      if (w == warp) before = all;
      all = all + warps_[w];
    }
    return before + up_to - own;
  }

 private:
  SharedArray<JpegSums, piece_threads / 32> warps_;
};

// Sums in groups of pieces. Those of groups are added where they are needed.
__global__ void sum_pieces_kernel(JpegTask task, int piece_count) {
  __shared__ SumsOfThreads threads;
  const int number = static_cast<int>(blockIdx.x * piece_threads + threadIdx.x);
  const JpegSums own = number < piece_count ? task.sums[number] : JpegSums{};
  JpegSums all;
  const JpegSums before = threads.before(own, all);
  if (number < piece_count) task.sums[number] = before;
  if (threadIdx.x == 0) task.groups[blockIdx.x] = all;
}

// ---- coefficients

// Where the coefficients of an MCU's blocks lie: the number of a block in the first MCU, and how
// much that grows from one MCU to the next, and from one row of them to the next.
struct BlockPlaces {
  SharedArray<int, most_blocks_of_mcu> first, by_column, by_row;

  // To be called by all threads, which must meet before reading.
  __device__ void set(const JpegHeader& header) {
    const int block = static_cast<int>(threadIdx.x);
    if (block >= header.blocks_of_mcu) return;
    const auto number = static_cast<int>(header.component_of_blocks >> 2 * block & 3);
    const JpegComponent& component = header.components[number];
    // Luma comes first, and components of chroma have a single block each.
    const int in_component = number == 0 ? block : 0;
    const int x = in_component % component.h, y = in_component / component.h;
    first[block] = component.first_block + y * component.blocks.width + x;
    by_column[block] = component.h;
    by_row[block] = component.v * component.blocks.width;
  }
};

// Writes what a piece has.
class Writer {
 public:
  // The piece begins in block number `block` of the scan; its segment ends before `end`.
  __device__ Writer(const JpegTask& task, const Layout& layout, BlockPlaces& places,
                    const JpegSums& before, int block, int end)
      : layout_(layout),
        places_(places),
        coefficients_(task.coefficients),
        columns_(task.header->mcus.width),
        dc_(before),
        left_(end - block) {
    const int of_mcu = task.header->blocks_of_mcu, mcu = block / of_mcu;
    column_ = mcu % columns_;
    row_ = mcu / columns_;
    find_block(block % of_mcu);
  }

  __device__ void error() { has_error_ |= left_ > 0; }
  __device__ void dc(BlockOfMcu block, unsigned bits, JpegCode code) {
    const int component = block.component(layout_);
    const auto difference = static_cast<unsigned>(value_of(bits, code));
    unsigned value = 0;
    FACESAT_UNROLL
    for (int c = 0; c < 3; ++c) {
      dc_.dc[c] += component == c ? difference : 0;
      value = component == c ? dc_.dc[c] : value;
    }
    put(0, static_cast<int>(value));
  }
  __device__ void coefficient(int k, unsigned bits, JpegCode code) {
    if (all_bits_of(code) == own_bits_of(code)) return;
    if (k < pixels_of_block)
      put(k, value_of(bits, code));
    else
      error();
  }
  __device__ void end_block(BlockOfMcu next, std::uint32_t bits_left) {
    if (--left_ == 0) has_error_ |= bits_left >= 8;
    if (next.number() == 0 && ++column_ == columns_) {
      column_ = 0;
      ++row_;
    }
    find_block(next.number());
  }

  __device__ bool has_error() const { return has_error_; }
  __device__ bool is_complete() const { return left_ <= 0; }

 private:
  __device__ void find_block(int block) {
    const int number =
        places_.first[block] + column_ * places_.by_column[block] + row_ * places_.by_row[block];
    to_ = coefficients_ + static_cast<std::ptrdiff_t>(number) * pixels_of_block;
  }
  __device__ void put(int k, int value) {
    if (left_ > 0) to_[k] = static_cast<std::int16_t>(value);
  }

  const Layout& layout_;
  BlockPlaces& places_;
  std::int16_t* const coefficients_;
  const int columns_;  // of MCUs
  JpegSums dc_;
  int left_, column_, row_;  // blocks left of the segment; the MCU's place
  bool has_error_ = false;
  std::int16_t* to_;
};

__global__ void write_pieces_kernel(JpegTask task, int piece_count) {
  __shared__ Codes codes;
  __shared__ BlockPlaces places;
  __shared__ Words words;
  __shared__ SumsOfThreads threads;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), group = static_cast<int>(blockIdx.x);
  places.set(header);
  Decoder decoder(task, codes, words, group * piece_threads);
  const int number = group * piece_threads + thread;
  const auto first_piece_of = [&](int segment) {
    return static_cast<int>(task.segments[segment].first_piece);
  };
  // Of the groups before this one, from the beginning of a segment on that continues here.
  JpegSums sums{}, of_groups;
  const int continued = first_piece_of(piece_of(task, group * piece_threads).segment);
  for (int i = continued / piece_threads + thread; i < group; i += piece_threads)
    sums = sums + task.groups[i];
  static_cast<void>(threads.before(sums, of_groups));
  if (number >= piece_count) return;
  const Piece piece = piece_of(task, number);
  const int first_piece = first_piece_of(piece.segment);
  JpegSums before = task.sums[number] - task.sums[first_piece];
  if (first_piece / piece_threads < group) before = before + of_groups;
  const int first_mcu = piece.segment * header.segment_mcus;
  const int last_mcu = min(first_mcu + header.segment_mcus, header.mcus.width * header.mcus.height);
  const int blocks = (last_mcu - first_mcu) * header.blocks_of_mcu;
  // Damaged bits may have any number of blocks.
  const int in_segment = static_cast<int>(min(before.blocks, static_cast<unsigned>(blocks)));
  const int first_block = first_mcu * header.blocks_of_mcu;
  Writer writer(task, decoder.layout, places, before, first_block + in_segment,
                first_block + blocks);
  const JpegPlace begin = task.begins[number];
  const bool is_apart = begin == unknown || (!piece.is_first && begin != task.ends[number - 1]);
  if (!is_apart) decoder.decode(piece, begin, writer);
  if (is_apart || writer.has_error() || (piece.is_last && !writer.is_complete()))
    store_relaxed(task.has_failed, 1u);
}

}  // namespace

void enqueue_coefficients(const JpegTask& task, const JpegHeader& header, StreamHandle stream) {
  const int pieces = header.piece_count;
  const int blocks = divide_up(pieces, own_pieces(header)),
            groups = divide_up(pieces, piece_threads);
  FACESAT_LAUNCH(decode_guesses_kernel, dim3(blocks), dim3(guess_threads), stream, task, pieces);
  FACESAT_LAUNCH(enter_blocks_kernel, dim3(1), dim3(256), stream, task, blocks);
  for (int launch = 0; launch < launches_to_join; ++launch)
    FACESAT_LAUNCH(join_pieces_kernel, dim3(blocks), dim3(piece_threads), stream, task, pieces,
                   launch == 0);
  FACESAT_LAUNCH(sum_pieces_kernel, dim3(groups), dim3(piece_threads), stream, task, pieces);
  FACESAT_LAUNCH(write_pieces_kernel, dim3(groups), dim3(piece_threads), stream, task, pieces);
}

}  // namespace facesat::gpu
