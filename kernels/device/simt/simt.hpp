// Runs CUDA kernels on the host, for tests: the same sources, compiled by the host's compiler with
// this header in place of CUDA's.
//
// Every thread of a block is a fibre, and all of a launch's run in the thread that launches, one at
// any moment. The schedule decides the order of blocks: one after the other, in reverse, or several
// at once, interleaved at random from a seed, with or without one that is halted.
// What is undefined on a GPU ends the launch with an error message: a barrier or shuffle that not
// all threads reach which must, a shuffle from a lane outside its mask, a read of shared memory
// that was never written, a wait for something that never comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace simt {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  Dim3() = default;
  Dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// A kernel did something that is undefined on a GPU.
struct Undefined : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Order { forward, reverse, random };

// How blocks of all launches are ordered from now on. In random order `resident` blocks are in
// flight at a time; otherwise one. With `halts`, the first block that is interrupted goes on only
// when all others have ended.
struct Schedule {
  Order order = Order::forward;
  std::uint64_t seed = 1;
  unsigned resident = 4;
  bool halts = false;
};
void set_schedule(const Schedule& schedule);

// Runs body(), a kernel call, for every thread of the grid; each block has `shared_bytes` of
// dynamic shared memory. One launch at a time, and none by a kernel. Throws Undefined.
void launch(const std::string& kernel, Dim3 grid, Dim3 block, const std::function<void()>& body,
            std::size_t shared_bytes = 0);

// What all launches have done so far. Every thread counts, also if a warp reads one element
// together.
struct Counts {
  std::size_t launches = 0, shared_reads = 0, shared_writes = 0;
};
inline Counts counts;

// Is told what kernels do. Only one thread of a grid calls it at a time; threads are numbered in
// their block, and blocks in their grid.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void launched(const std::string& /*kernel*/, const Dim3& /*grid*/,
                        const Dim3& /*block*/) {}
  // A thread has reached a barrier or an operation of its warp.
  virtual void synchronised() {}
  // A thread has received the value of lane `from` of its warp.
  virtual void received(unsigned /*from*/) {}
  // A thread reads or writes an element of an array in shared memory, whose value is this (the
  // first 8 bytes of it).
  virtual void accessed_shared(const void* /*array*/, unsigned /*index*/, bool /*is_write*/,
                               std::uint64_t /*value*/) {}
  // A thread reads or writes memory. Only code that is compiled to tell it (kernels/drawings) does.
  virtual void accessed(const void* /*address*/, std::size_t /*bytes*/, bool /*is_write*/) {}
};
inline Observer* observer = nullptr;  // null: nobody is told

// ---- called by kernels

// As launch(), once the calling grid has ended. The launches of a grid run in the order of these
// calls, each after all that the one before has launched.
void launch_after_grid(const std::string& kernel, Dim3 grid, Dim3 block,
                       const std::function<void()>& body, std::size_t shared_bytes = 0);

unsigned thread_number();
unsigned block_number();
bool is_running();  // Is the caller a thread of a block?
const Dim3& thread_index();
const Dim3& block_index();
const Dim3& block_size();
const Dim3& grid_size();

// A number that no other block has had, of the one that runs; 0 if none does.
inline std::uint64_t running_block = 0;
// The memory of this block for a shared array, zeros at first. The array's address says which one
// it is.
std::byte* shared_array(const void* array, std::size_t bytes);

// The dynamic shared memory of this block. dynamic_shared_written() has one flag per element,
// whatever the element's type; the caller uses it to find reads of what was never written.
std::size_t dynamic_shared_bytes();
std::byte* dynamic_shared();
bool* dynamic_shared_written();

// Returns whether any thread of the block passed true.
bool block_barrier(bool predicate = false);
// A barrier of its own, one per number, which `threads` threads of the block pass together.
void part_barrier(unsigned threads, unsigned number);

// Waits until all lanes of `mask` have called this with the same operation. Returns the values that
// they passed, indexed by lane, until the thread calls this again.
enum class WarpOperation {
  barrier,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  load_core_matrices,
  multiply_add
};
const std::uint64_t* exchange(WarpOperation operation, unsigned mask, std::uint64_t value);
unsigned lane_index();

// To be called inside a loop that waits for another block: lets other blocks run.
void pause();
// To be called after writing what another block may be waiting for.
void progress();

// Throws Undefined with the calling block and thread.
[[noreturn]] void undefined(const std::string& what);

}  // namespace simt
