// Where the pieces of a JPEG's bits begin.
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
// Cost: with n guesses, bits are decoded 2 n + 1 times, each by piece_bits / 5 or so steps of a
//   thread. Hence short pieces.
// Source: S. T. Klein, Y. Wiseman, "Parallel Huffman Decoding with Applications to JPEG Files", The
//   Computer Journal 46(5), 2003; A. Weißenborn, B. Schmidt, "Accelerating JPEG Decompression on
//   GPUs", HiPC 2021. Different from the latter: guesses and links, without which smooth pictures
//   are decoded one piece after the other.
#include "kernels/jpeg/piece_decoder.cuh"

namespace facesat::gpu {
namespace {

// ---- guesses and links

constexpr int most_steps = 8;  // of a link: pieces that a decoder goes on
constexpr int guess_threads = 512, enter_threads = 512, join_threads = most_pieces_together,
              launches_to_join = 3;
constexpr int states = most_steps * 16;  // in which a block of pieces is entered
// Of a thread, so that a block takes no more than one of evaluate_kernel: see few_windows.cu.
constexpr int most_registers = 16384 / guess_threads;

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

__global__ void __maxnreg__(most_registers) decode_guesses_kernel(JpegTask task, int piece_count) {
  __shared__ SharedArray<JpegPlace, guess_threads> ends;
  __shared__ SharedArray<std::uint8_t, guess_threads> links;
  __shared__ Codes codes;
  __shared__ Words words;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), guesses = header.guesses;
  const int own = own_pieces(header), first = static_cast<int>(blockIdx.x) * own;
  codes.load<guess_threads>(header);
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

// One block of threads: follows the links from block to block of pieces. What a row of blocks of
// pieces makes of each state is found for several rows at once; only then is one entered after the
// other.
__global__ void __maxnreg__(most_registers) enter_blocks_kernel(JpegTask task, int block_count) {
  constexpr int rows = enter_threads / states, of_row = 16, together = rows * of_row;
  __shared__ SharedArray<std::uint8_t, together * states> exits;
  __shared__ SharedArray<std::uint8_t, rows * states> exits_of_rows;
  __shared__ SharedArray<std::uint8_t, rows> entries_of_rows;
  const int thread = static_cast<int>(threadIdx.x);
  const auto* const from = reinterpret_cast<const std::uint32_t*>(task.exits);
  int entry = 0;  // known to the first thread
  for (int first = 0; first < block_count; first += together) {
    const int count = min(together, block_count - first);
    for (int i = thread; i < count * states / 4; i += enter_threads) {
      const std::uint32_t four = from[first * (states / 4) + i];
      FACESAT_UNROLL
      for (int k = 0; k < 4; ++k) exits[4 * i + k] = static_cast<std::uint8_t>(four >> 8 * k);
    }
    __syncthreads();
    const auto walk = [&](int row, int state, auto visit) {
      const int end = min(count, (row + 1) * of_row);
      for (int i = row * of_row; i < end; ++i) {
        visit(i, state);
        state = exits[i * states + state];
      }
      return static_cast<std::uint8_t>(state);
    };
    exits_of_rows[thread] = walk(thread / states, thread % states, [](int, int) {});
    __syncthreads();
    for (int row = 0; thread == 0 && row < rows; ++row) {
      entries_of_rows[row] = static_cast<std::uint8_t>(entry);
      entry = exits_of_rows[row * states + entry];
    }
    __syncthreads();
    if (thread < rows)
      walk(thread, entries_of_rows[thread],
           [&](int i, int state) { task.entries[first + i] = static_cast<std::uint8_t>(state); });
    __syncthreads();
  }
}

// ---- pieces joined

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

// Launched several times. At first, pieces begin where those before them have ended, as far as
// links lead there. Others follow once the piece before them has been decoded: first those that had
// no beginning, so that the wrong ends of guesses go no further. The first pieces of blocks of
// threads follow in the next launch. An end may be written while another block reads it: either
// value will do, because all places are verified afterwards.
//
// The pieces are those that follow a block's own ones, and the very first.
__global__ void join_pieces_kernel(JpegTask task, int piece_count, bool is_first_launch) {
  __shared__ SharedArray<JpegPlace, join_threads> ends;
  __shared__ SharedArray<std::uint8_t, guess_threads> links;
  __shared__ SharedArray<int, join_threads> chosen;  // guesses; negative: none
  __shared__ Codes codes;
  __shared__ Words words;
  const JpegHeader& header = *task.header;
  const int thread = static_cast<int>(threadIdx.x), guesses = header.guesses;
  const int own = own_pieces(header), first = static_cast<int>(blockIdx.x) * own;
  const int number = first + thread, first_thread = blockIdx.x == 0 ? 0 : 1;
  const bool is_there = thread >= first_thread && thread <= own && number < piece_count;
  const Piece piece = is_there ? piece_of(task, number) : Piece{};
  const bool follows = is_there && !piece.is_first;
  JpegPlace begin = unknown_place, end = unknown_place, before = unknown_place;
  if (is_there && !is_first_launch) {
    begin = task.begins[number];
    end = task.ends[number];
    before = number > 0 ? task.ends[number - 1] : unknown_place;
  }
  if (!is_first_launch && __syncthreads_or(follows && before != begin) == 0) return;
  codes.load<join_threads>(header);
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
    for (int i = thread; i < count; i += join_threads) links[i] = task.links[first * guesses + i];
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
  for (int round = 0; round < 2 * join_threads; ++round) {
    ends[thread] = end;
    __syncthreads();
    if (thread > first_thread) before = ends[thread - 1];
    bool must_change = follows && before != unknown_place && before != begin;
    const bool has_no_beginning = must_change && begin == unknown_place;
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

}  // namespace

void enqueue_piece_begins(const JpegTask& task, const JpegHeader& header, StreamHandle stream) {
  const int pieces = header.piece_count, blocks = divide_up(pieces, own_pieces(header));
  FACESAT_LAUNCH(decode_guesses_kernel, dim3(blocks), dim3(guess_threads), stream, task, pieces);
  FACESAT_LAUNCH(enter_blocks_kernel, dim3(1), dim3(enter_threads), stream, task, blocks);
  for (int launch = 0; launch < launches_to_join; ++launch)
    FACESAT_LAUNCH(join_pieces_kernel, dim3(blocks), dim3(join_threads), stream, task, pieces,
                   launch == 0);
}

}  // namespace facesat::gpu
