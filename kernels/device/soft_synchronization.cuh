// Soft synchronisation: blocks of one launch that pass values to each other.
//
// Blocks draw tickets for their work and wait only for smaller tickets, which blocks have that run
// or have ended, so that none waits for a block that has yet to start. The words that they exchange
// contain both state and value, so that no fence is needed; the state includes the number of the
// launch (the epoch), so that nothing is reset between launches.
//
// Even a block that runs may be halted: CUDA does not promise that all blocks of a launch make
// progress. So a look-back need not wait for ever. After `patience` reads it gives up, and the
// block begins again with look-backs that compute what is missing from the input (decoupled
// fallback, after T. Smith, R. Levien and J. D. Owens, "Decoupled Fallback: A Portable Single-Pass
// GPU Scan", SPAA 2025). It does not compute it at once: that would take registers of the usual
// way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

// Shared by all blocks of a launch; must be zero before the first launch, and each launch leaves it
// ready for the next. ticket: the next one to be drawn; finished: the number of blocks that have
// finished; epoch: the number of the launch.
struct Header {
  unsigned ticket, finished, epoch;
};
constexpr std::size_t header_bytes = 256;

// A published word: the state in the upper 32 bits, the value in the lower ones.
using Word = unsigned long long;
// own_total: the value is the sum of the tile alone; inclusive_total: of the tile and all before
// it.
enum State : unsigned { none, own_total, inclusive_total };
constexpr unsigned states = 4;  // per epoch, rounded up to a power of two

__device__ __forceinline__ Word to_word(unsigned epoch, State state, std::uint32_t value) {
  return static_cast<Word>(epoch * states + state) << 32 | value;
}
__device__ __forceinline__ State state_of(Word word, unsigned epoch) {
  const unsigned state = static_cast<unsigned>(word >> 32) - epoch * states;
  return state <= inclusive_total ? static_cast<State>(state) : none;
}

// Values of 32 bits are one word; those of 64 bits are two, `part_stride` words apart, whose states
// must agree.
template <class Out>
constexpr int parts = sizeof(Out) / 4;

template <class Out>
__device__ __forceinline__ void publish(Word* words, std::ptrdiff_t part_stride, unsigned epoch,
                                        State state, Out value) {
  std::uint32_t bits[parts<Out>];
  std::memcpy(bits, &value, sizeof value);
  FACESAT_UNROLL
  for (int i = 0; i < parts<Out>; ++i)
    store_relaxed(words + i * part_stride, to_word(epoch, state, bits[i]));
}

// Reads a published value once; `value` is meaningful unless the result is `none`.
template <class Out>
__device__ __forceinline__ State look(const Word* words, std::ptrdiff_t part_stride, unsigned epoch,
                                      Out& value) {
  std::uint32_t bits[parts<Out>];
  State state = none;
  FACESAT_UNROLL
  for (int i = 0; i < parts<Out>; ++i) {
    const Word word = load_relaxed(words + i * part_stride);
    const State seen = state_of(word, epoch);
    state = i == 0 || seen == state ? seen : none;
    bits[i] = static_cast<std::uint32_t>(word);
  }
  std::memcpy(&value, bits, sizeof value);
  return state;
}

// Waits until the inclusive total is published, and returns it.
template <class Out>
__device__ __forceinline__ Out wait_for(const Word* words, std::ptrdiff_t part_stride,
                                        unsigned epoch) {
  Out value;
  while (look(words, part_stride, epoch, value) != inclusive_total) pause();
  return value;
}

// How often a look-back reads what is not published before it gives up: on a GPU, for at least a
// millisecond, so that this happens only if a block is halted.
constexpr int patience = on_host ? 12 : 2000;

// What a look-back does about a total that stays missing: it waits on, or it sets `gave_up`,
// publishes nothing more, and returns nothing of meaning.
struct Wait {};
struct GiveUp {
  SharedArray<int, 1>& gave_up;  // of the block; 0 at first
};

// Publishes this tile's total, adds up those of the previous tiles until one has published its
// inclusive total, and publishes its own inclusive total. `words` are this tile's; those of the
// previous tile are at words + stride. There are `before` previous tiles. `window` of them are read
// at once, which takes as long as reading one tile's. `total_of`: Wait, GiveUp, or a function
// of n that computes the total of the tile n before this one. Returns the sum of all previous
// tiles.
template <int window, class Out, class TotalOf>
__device__ __forceinline__ Out look_back(Word* words, std::ptrdiff_t part_stride,
                                         std::ptrdiff_t stride, int before, Out total,
                                         unsigned epoch, TotalOf total_of) {
  if (before > 0) publish(words, part_stride, epoch, own_total, total);
  Out sum{};
  const int all = before;
  int reads = 0;
  const Word* other = words + stride;
  while (before > 0) {
    Out seen[window];
    State state[window];
    FACESAT_UNROLL
    for (int i = 0; i < window; ++i)
      state[i] = i < before ? look(other + i * stride, part_stride, epoch, seen[i]) : none;
    int read = 0;
    FACESAT_UNROLL
    for (int i = 0; i < window; ++i)
      if (i == read && state[i] != none) {
        sum += seen[i];
        read = state[i] == inclusive_total ? before : read + 1;
      }
    if (read == 0) {
      pause();
      if (std::is_same_v<TotalOf, Wait> || ++reads < patience) continue;
      if constexpr (std::is_same_v<TotalOf, GiveUp>) {
        total_of.gave_up[0] = 1;
        return sum;
      } else if constexpr (!std::is_same_v<TotalOf, Wait>) {
        sum += total_of(all - before + 1);
        read = 1;
      }
    }
    reads = 0;
    other += read * stride;
    before -= read;
  }
  publish(words, part_stride, epoch, inclusive_total, static_cast<Out>(sum + total));
  return sum;
}

// The ticket that thread 0 has drawn and the epoch, for all threads of a block.
struct Ticket {
  int number;
  unsigned epoch;
};
__device__ __forceinline__ Ticket draw_ticket(Header* header) {
  __shared__ SharedArray<unsigned, 2> drawn;
  if (threadIdx.x == 0) {
    drawn[0] = atomicAdd(&header->ticket, 1u);
    drawn[1] = header->epoch;
  }
  __syncthreads();
  return {static_cast<int>(static_cast<unsigned>(drawn[0])), drawn[1]};
}

// To be called by one thread of each of `blocks` blocks, at its end: the last call prepares the
// header for the next launch.
__device__ __forceinline__ void finish(Header* header, int blocks, unsigned epoch) {
  if (atomicAdd(&header->finished, 1u) + 1 < static_cast<unsigned>(blocks)) return;
  header->ticket = 0;
  header->finished = 0;
  header->epoch = epoch + 1;
}

}  // namespace facesat::gpu
