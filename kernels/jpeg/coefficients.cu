// From the bits of a JPEG's scan to the coefficients of its blocks.
//
// Idea: codes have no fixed lengths, so where a piece's first code begins is known only once the
//   pieces before it are decoded. But a decoder that begins at a wrong place soon falls into step
//   with the right one, because it meets the end of a code by chance. So all pieces are decoded at
//   once, from guessed places; then each piece that has begun elsewhere than the one before it has
//   ended is decoded again, until nothing changes.
// Then: prefix sums over the pieces' whole blocks and DC differences say which block a piece begins
//   in, and with which DC coefficients. With these, pieces are decoded once more, and coefficients
//   are written.
// Cost: bits are read three times or more. A thread decodes a piece of piece_bits.
// Source: S. T. Klein, Y. Wiseman, "Parallel Huffman Decoding with Applications to JPEG Files", The
//   Computer Journal 46(5), 2003; A. Weißenborn, B. Schmidt, "Accelerating JPEG Decompression on
//   GPUs", HiPC 2021. Different from the latter: the sums of DC differences are those of pieces, so
//   that no pass over blocks is needed for them.
#include "kernels/device/platform.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/jpeg/decode.hpp"

namespace facesat::gpu {
namespace {

constexpr int piece_threads = 128;  // of a block; each decodes a piece
constexpr int most_rounds = 32;     // of decoding pieces again
constexpr int launches_to_join =
    2;  // after the first: blocks of threads go on where those before them have ended

// ---- codes

constexpr int tables = 4, lookup_size = 1 << HuffmanTable::lookup_bits,
              lengths = HuffmanTable::most_bits + 1, most_symbols = 256;

struct Code {
  int bits;
  unsigned symbol;
  bool is_valid;
};

// The Huffman tables of a header, in shared memory.
struct Codes {
  SharedArray<std::uint16_t, tables * lookup_size> lookup;
  SharedArray<std::uint8_t, tables * most_symbols> symbols;
  SharedArray<std::int32_t, tables * lengths> limits, places;

  // To be called by all threads.
  __device__ void load(const JpegHeader& header) {
    const int thread = static_cast<int>(threadIdx.x);
    for (int t = 0; t < tables; ++t) {
      const HuffmanTable& table = header.tables[t];
      for (int i = thread; i < lookup_size; i += piece_threads)
        lookup[t * lookup_size + i] = table.lookup[i];
      for (int i = thread; i < most_symbols; i += piece_threads)
        symbols[t * most_symbols + i] = table.symbols[i];
      if (thread < lengths) {
        limits[t * lengths + thread] = table.limit[thread];
        places[t * lengths + thread] = table.to_place[thread];
      }
    }
    __syncthreads();
  }

  // The code at the beginning of these bits. If there is none, 16 bits are skipped.
  __device__ Code next(int table, unsigned bits) {
    const auto next_bits = static_cast<int>(bits >> (32 - HuffmanTable::lookup_bits));
    const unsigned entry = lookup[table * lookup_size + next_bits];
    if (entry != 0) return {static_cast<int>(entry >> 8), entry & 255, true};
    const int code = static_cast<int>(bits >> 16);
    int length = HuffmanTable::lookup_bits + 1;
    while (length < lengths && code >= limits[table * lengths + length]) ++length;
    if (length == lengths) return {HuffmanTable::most_bits, 0, false};
    const int place =
        (code >> (HuffmanTable::most_bits - length)) + places[table * lengths + length];
    return {length, symbols[table * most_symbols + (place & (most_symbols - 1))], true};
  }
};

// ---- a piece

// The words are as in the file, where the first byte has the highest bits.
class BitReader {
 public:
  __device__ BitReader(const std::uint32_t* words, std::uint32_t bit)
      : next_(words + bit / 32), high_(next()), low_(next()), used_(bit % 32) {}
  __device__ unsigned peek() const { return __funnelshift_l(low_, high_, used_); }
  // At most 32.
  __device__ void skip(int bits) {
    used_ += static_cast<unsigned>(bits);
    if (used_ < 32) return;
    used_ -= 32;
    high_ = low_;
    low_ = next();
  }

 private:
  __device__ unsigned next() { return __byte_perm(*next_++, 0, 0x0123); }

  const std::uint32_t* next_;
  unsigned high_, low_, used_;
};

// What decoding asks of the header for each code, in registers.
struct Layout {
  unsigned component_of_blocks, tables = 0;  // tables: four bits for each component
  int blocks_of_mcu;

  __device__ explicit Layout(const JpegHeader& header)
      : component_of_blocks(header.component_of_blocks), blocks_of_mcu(header.blocks_of_mcu) {
    for (int c = 0; c < header.component_count; ++c) {
      const JpegComponent& component = header.components[c];
      tables |= static_cast<unsigned>(component.dc_table | component.ac_table << 2) << 4 * c;
    }
  }
  __device__ int component_of(int block) const {
    return static_cast<int>(component_of_blocks >> 2 * block & 3);
  }
  __device__ int table_of(int block, bool is_dc) const {
    return static_cast<int>(tables >> (4 * component_of(block) + (is_dc ? 0 : 2)) & 3);
  }
};

__device__ __forceinline__ JpegPlace packed(std::uint32_t bits, int block, int k) {
  return bits | static_cast<unsigned>(block) << 8 | static_cast<unsigned>(k) << 16;
}

// Of a code's symbol, the lower half says how many bits follow; these are the value. Smaller
// numbers stand for negative values.
__device__ __forceinline__ int value_of(unsigned bits, const Code& code, int count) {
  if (count == 0) return 0;
  const int value = static_cast<int>(bits << code.bits >> (32 - count));
  return value >> (count - 1) != 0 ? value : value - (1 << count) + 1;
}

struct Piece {
  const std::uint32_t* words;  // of its segment
  std::uint32_t begin, end;    // in bits of the segment
  std::uint32_t segment_bits;
  bool is_first, is_last;  // of its segment
};

__device__ __forceinline__ Piece piece_of(const JpegTask& task, int number) {
  const JpegSegment segment = task.segments[task.segment_of_piece[number]];
  const std::uint32_t begin =
      (static_cast<std::uint32_t>(number) - segment.first_piece) * piece_bits;
  const std::uint32_t end = min(begin + piece_bits, segment.bits);
  return {
      task.words + segment.first_word, begin, end, segment.bits, begin == 0, end == segment.bits};
}

// Decodes the codes that begin in the piece, from `from` on. `use` is told of each DC difference
// and coefficient, of the end of each block and how many bits are then left of the segment, and of
// errors. Returns where the next piece begins.
template <class Use>
__device__ JpegPlace decode(const Layout& layout, Codes& codes, const Piece& piece, JpegPlace from,
                            Use& use) {
  std::uint32_t bit = piece.begin + (from & 255);
  int block = static_cast<int>(from >> 8 & 255), k = static_cast<int>(from >> 16);
  BitReader reader(piece.words, bit);
  while (bit < piece.end) {
    const unsigned bits = reader.peek();
    const Code code = codes.next(layout.table_of(block, k == 0), bits);
    const int value_bits = static_cast<int>(code.symbol & 15), all = code.bits + value_bits;
    if (bit + static_cast<unsigned>(all) > piece.segment_bits) {
      // In the last piece, these may be the bits that fill up the last byte.
      if (!piece.is_last) use.error();
      break;
    }
    if (!code.is_valid) use.error();
    const int value = value_of(bits, code, value_bits);
    bit += static_cast<unsigned>(all);
    reader.skip(all);
    if (k == 0) {
      use.dc(block, value);
      k = 1;
    } else if (value_bits == 0) {
      k = code.symbol == 0xF0 ? k + 16 : pixels_of_block;
    } else {
      k += static_cast<int>(code.symbol >> 4);
      use.coefficient(k, value);
      ++k;
    }
    if (k < pixels_of_block) continue;
    k = 0;
    block = block + 1 == layout.blocks_of_mcu ? 0 : block + 1;
    use.end_block(piece.segment_bits - bit);
  }
  return packed(bit < piece.end ? 0 : bit - piece.end, block, k);
}

// ---- where pieces begin

struct Counter {
  const Layout& layout;
  JpegSums sums{};

  __device__ void error() const {}
  __device__ void dc(int block, int difference) {
    FACESAT_UNROLL
    for (int c = 0; c < 3; ++c)
      sums.dc[c] += layout.component_of(block) == c ? static_cast<unsigned>(difference) : 0;
  }
  __device__ void coefficient(int, int) const {}
  __device__ void end_block(std::uint32_t) { ++sums.blocks; }
};

// Launched several times: at first, all pieces begin at guessed places, and the first ones of
// blocks of threads stay there. Later, these begin where the pieces before them have ended. Such an
// end may be written meanwhile: either value will do, because all places are verified afterwards.
__global__ void join_pieces_kernel(JpegTask task, int piece_count, bool guesses) {
  __shared__ SharedArray<JpegPlace, piece_threads> ends;
  const JpegHeader& header = *task.header;
  __shared__ Codes codes;
  codes.load(header);
  const Layout layout(header);
  const int thread = static_cast<int>(threadIdx.x);
  const int number = static_cast<int>(blockIdx.x) * piece_threads + thread;
  const bool is_there = number < piece_count;
  const Piece piece = is_there ? piece_of(task, number) : Piece{};
  JpegPlace begin = 0, end = 0;
  JpegSums sums{};
  const auto decode_from = [&](JpegPlace from) {
    Counter counter{layout};
    begin = from;
    end = decode(layout, codes, piece, from, counter);
    sums = counter.sums;
  };
  if (is_there && guesses) decode_from(0);
  if (is_there && !guesses) {
    begin = task.begins[number];
    end = task.ends[number];
  }
  bool has_changed = guesses;
  JpegPlace before = begin;
  if (is_there && !guesses && thread == 0 && number > 0) before = task.ends[number - 1];
  for (int round = 0; round < most_rounds; ++round) {
    ends[thread] = end;
    __syncthreads();
    if (thread > 0) before = ends[thread - 1];
    const bool must_change = is_there && !piece.is_first && before != begin;
    if (must_change) {
      decode_from(before);
      has_changed = true;
    }
    if (__syncthreads_or(must_change) == 0) break;
  }
  if (!is_there || !has_changed) return;
  task.begins[number] = begin;
  task.ends[number] = end;
  task.sums[number] = sums;
}

// ---- what is before each piece

constexpr int sum_threads = on_host ? 64 : 1024;

__device__ __forceinline__ void add_to(JpegSums& sums, const JpegSums& more) {
  sums.blocks += more.blocks;
  FACESAT_UNROLL
  for (int c = 0; c < 3; ++c) sums.dc[c] += more.dc[c];
}

// Turns the sums of pieces into those of all pieces before them. One block; each thread has some
// pieces in a row. Finds out whether all pieces begin where the ones before them have ended.
__global__ void sum_pieces_kernel(JpegTask task, int piece_count) {
  __shared__ SharedArray<std::uint32_t, 4 * (sum_threads / 32)> warps;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const int each = (piece_count + sum_threads - 1) / sum_threads;
  const int first = min(thread * each, piece_count), last = min(first + each, piece_count);
  JpegSums own{};
  bool is_joined = true;
  for (int i = first; i < last; ++i) {
    add_to(own, task.sums[i]);
    const std::uint32_t segment_begin = task.segments[task.segment_of_piece[i]].first_piece;
    if (static_cast<std::uint32_t>(i) != segment_begin)
      is_joined &= task.begins[i] == task.ends[i - 1];
  }
  JpegSums up_to{warp_inclusive_scan(own.blocks),
                 {warp_inclusive_scan(own.dc[0]), warp_inclusive_scan(own.dc[1]),
                  warp_inclusive_scan(own.dc[2])}};
  if (thread % 32 == 31) {
    warps[4 * warp] = up_to.blocks;
    for (int c = 0; c < 3; ++c) warps[4 * warp + 1 + c] = up_to.dc[c];
  }
  const int some_apart = __syncthreads_or(!is_joined);
  if (thread == 0) *task.has_failed = some_apart != 0;
  JpegSums before{up_to.blocks - own.blocks,
                  {up_to.dc[0] - own.dc[0], up_to.dc[1] - own.dc[1], up_to.dc[2] - own.dc[2]}};
  for (int w = 0; w < warp; ++w)
    add_to(before, {warps[4 * w], {warps[4 * w + 1], warps[4 * w + 2], warps[4 * w + 3]}});
  for (int i = first; i < last; ++i) {
    const JpegSums of_piece = task.sums[i];
    task.sums[i] = before;
    add_to(before, of_piece);
  }
}

// ---- coefficients

__global__ void clear_kernel(uint4* memory, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) memory[i] = make_uint4(0, 0, 0, 0);
}

// Writes what a piece has.
class Writer {
 public:
  // The piece begins in block number `block` of the scan; its segment ends before `end`.
  __device__ Writer(const JpegTask& task, const Layout& layout, const JpegSums& before, int block,
                    int end)
      : task_(task), layout_(layout), header_(*task.header), dc_(before), block_(block), end_(end) {
    find_block();
  }

  __device__ void error() { has_error_ |= block_ < end_; }
  __device__ void dc(int block, int difference) {
    const int component = layout_.component_of(block);
    unsigned value = 0;
    FACESAT_UNROLL
    for (int c = 0; c < 3; ++c) {
      dc_.dc[c] += component == c ? static_cast<unsigned>(difference) : 0;
      value = component == c ? dc_.dc[c] : value;
    }
    put(0, static_cast<int>(value));
  }
  __device__ void coefficient(int k, int value) {
    if (k < pixels_of_block)
      put(k, value);
    else
      error();
  }
  __device__ void end_block(std::uint32_t bits_left) {
    if (++block_ == end_) has_error_ |= bits_left >= 8;
    find_block();
  }

  __device__ bool has_error() const { return has_error_; }
  __device__ bool is_complete() const { return block_ >= end_; }

 private:
  __device__ void find_block() {
    if (block_ >= end_) return;
    const int mcu = block_ / header_.blocks_of_mcu, in_mcu = block_ % header_.blocks_of_mcu;
    const int number = layout_.component_of(in_mcu);
    const JpegComponent& component = header_.components[number];
    // Luma comes first, and components of chroma have a single block each.
    const int x = number == 0 ? in_mcu % component.h : 0,
              y = number == 0 ? in_mcu / component.h : 0;
    const int column = mcu % header_.mcus.width * component.h + x;
    const int row = mcu / header_.mcus.width * component.v + y;
    to_ = task_.coefficients +
          static_cast<std::size_t>(component.first_block + row * component.blocks.width + column) *
              pixels_of_block;
  }
  __device__ void put(int k, int value) {
    if (block_ < end_) to_[k] = static_cast<std::int16_t>(value);
  }

  const JpegTask& task_;
  const Layout& layout_;
  const JpegHeader& header_;
  JpegSums dc_;
  int block_, end_;
  bool has_error_ = false;
  std::int16_t* to_ = nullptr;
};

__global__ void write_pieces_kernel(JpegTask task, int piece_count) {
  const JpegHeader& header = *task.header;
  __shared__ Codes codes;
  codes.load(header);
  const Layout layout(header);
  const int number = static_cast<int>(blockIdx.x * piece_threads + threadIdx.x);
  if (number >= piece_count || load_relaxed(task.has_failed) != 0) return;
  const Piece piece = piece_of(task, number);
  const auto segment = static_cast<int>(task.segment_of_piece[number]);
  JpegSums before = task.sums[number];
  const JpegSums at_segment = task.sums[task.segments[segment].first_piece];
  before.blocks -= at_segment.blocks;
  for (int c = 0; c < 3; ++c) before.dc[c] -= at_segment.dc[c];
  const int first_mcu = segment * header.segment_mcus;
  const int last_mcu = min(first_mcu + header.segment_mcus, header.mcus.width * header.mcus.height);
  Writer writer(task, layout, before,
                first_mcu * header.blocks_of_mcu + static_cast<int>(before.blocks),
                last_mcu * header.blocks_of_mcu);
  decode(layout, codes, piece, task.begins[number], writer);
  if (writer.has_error() || (piece.is_last && !writer.is_complete()))
    store_relaxed(task.has_failed, 1u);
}

}  // namespace

void enqueue_coefficients(const JpegTask& task, const JpegHeader& header, StreamHandle stream) {
  const int pieces = header.piece_count;
  const dim3 grid(divide_up(pieces, piece_threads));
  for (int launch = 0; launch <= launches_to_join; ++launch)
    FACESAT_LAUNCH(join_pieces_kernel, grid, dim3(piece_threads), stream, task, pieces,
                   launch == 0);
  FACESAT_LAUNCH(sum_pieces_kernel, dim3(1), dim3(sum_threads), stream, task, pieces);
  constexpr int vector = sizeof(uint4) / sizeof(std::int16_t);
  const int vectors = header.block_count() * (pixels_of_block / vector);
  FACESAT_LAUNCH(clear_kernel, dim3(divide_up(vectors, 256)), dim3(256), stream,
                 reinterpret_cast<uint4*>(task.coefficients), vectors);
  FACESAT_LAUNCH(write_pieces_kernel, grid, dim3(piece_threads), stream, task, pieces);
}

}  // namespace facesat::gpu
