// Records what an algorithm's kernels read and write, from their host twin.
//
// The twin is compiled with -fsanitize=thread, so that the compiler calls a function at each access
// to memory; accesses.cpp defines these functions in place of the sanitizer's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/device/simt/simt.hpp"

namespace facesat::drawings {

// Memory that is drawn: rows of elements, `pitch` bytes from one to the next.
struct Buffer {
  std::string name;
  const void* data = nullptr;
  Size size;
  std::size_t element_bytes = 1, pitch = 0;

  bool is_array() const { return size.height == 1; }
};

// What a launch does to an element: the blocks whose threads read and write it, in order.
struct Element {
  std::vector<unsigned> reads, writes;
};

struct Launch {
  std::string kernel;
  simt::Dim3 grid, block;
  std::vector<std::vector<Element>> buffers;  // elements row by row, in the order of the buffers

  unsigned blocks() const { return grid.x * grid.y * grid.z; }
  unsigned threads() const { return block.x * block.y * block.z; }
};

// Runs `body`, which launches kernels, and tells what each launch does to these buffers.
std::vector<Launch> record(const std::vector<Buffer>& buffers, const std::function<void()>& body);

// A value flows into another one: a lane receives it from a lane of its warp, or a thread reads it
// from shared memory and writes its sum with others, or itself, to another element.
struct Flow {
  unsigned step = 0;          // how many barriers and operations of its warp the thread has passed
  int array = 0;              // in shared memory, from 0 on; -1: a shuffle
  unsigned from = 0, to = 0;  // elements of the array, or lanes of the first warp
  auto operator<=>(const Flow&) const = default;
};

// The flow of values within the first block of each launch, in order and each once. What flows are
// sums of 32-bit integers that are random, so that a sum tells what it is made of.
std::vector<std::vector<Flow>> record_flow(const std::function<void()>& body);

// What the first warp of a launch's first block reads or writes in shared memory at once.
struct WarpAccess {
  static constexpr unsigned banks = 32;

  bool is_write = false;
  std::vector<unsigned> words;  // of each lane: the index in an array of elements of 4 bytes

  // The number of turns that it takes: the most different words in one bank.
  int turns() const;
};

// The accesses in a launch in which all 32 lanes take part, in order, until lanes go different
// ways.
std::vector<WarpAccess> record_warp(const std::function<void()>& body, unsigned launch = 0);

}  // namespace facesat::drawings
