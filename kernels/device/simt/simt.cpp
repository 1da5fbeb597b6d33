#include "kernels/device/simt/simt.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <ranges>
#include <vector>

#include <boost/context/detail/fcontext.hpp>
#include <fmt/format.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt {
namespace {

constexpr std::size_t stack_bytes = 128 << 10;
constexpr unsigned warp_size = 32;
// After this many pauses of the whole grid without a write, what they wait for never comes.
constexpr std::uint64_t patience = 20000;

Schedule schedule;

// What a fibre waits for.
enum class Waiting : unsigned char { no, barrier, part_barrier, warp, other_block, finished };

// A pool, because stacks are many, large, and needed again by the next block.
class Stacks {
 public:
  using Stack = std::unique_ptr<char[]>;
  Stack take() {
    if (free_.empty()) return Stack(new char[stack_bytes]);
    Stack stack = std::move(free_.back());
    free_.pop_back();
    return stack;
  }
  // `has_ended`: the fibre's own function has come to its end.
  void give_back(Stack stack, [[maybe_unused]] bool has_ended) {
#if defined(__SANITIZE_ADDRESS__)
    // Functions that a fibre has not returned from have left marks around their variables: the
    // first ones, which end by switching away, or all.
    const std::size_t bytes = has_ended ? stack_bytes / 16 : stack_bytes;
    __asan_unpoison_memory_region(stack.get() + stack_bytes - bytes, bytes);
#endif
    free_.push_back(std::move(stack));
  }

 private:
  std::vector<Stack> free_;
};
Stacks stacks;

// What the lanes that take part in a warp operation have passed.
struct LaneValues {
  std::uint64_t of_lane[warp_size];
  int readers;  // fibres that have not called another operation since
};

// A thread of a block.
struct Fibre {
  boost::context::detail::fcontext_t context = nullptr;
  Stacks::Stack stack = stacks.take();
  void* fake_stack = nullptr;  // of the address sanitizer
  bool has_begun = false;
  Dim3 index;
  unsigned number = 0;  // in the block
  // The warp operation in which the fibre waits, its arguments, and what the last one gave it.
  WarpOperation operation{};
  unsigned mask = 0;
  std::uint64_t value = 0;  // at a barrier: what the thread passed
  unsigned barrier = 0;     // the number of that of a part of the block
  LaneValues* received = nullptr;
};

// Thrown through a fibre to leave it when the launch has failed elsewhere.
struct Abandoned {};

class Grid;

// A block of threads.
class Block {
 public:
  Block(Grid& grid, unsigned number);
  ~Block() {
    for (Fibre& fibre : fibres)
      stacks.give_back(std::move(fibre.stack), waiting_of(fibre) == Waiting::finished);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // Runs the fibres until they have finished, the launch has failed, or other blocks have a turn.
  void run();
  // After a failure: every fibre that has begun leaves its functions.
  void abandon();

  Grid& grid;
  Dim3 index;
  std::vector<Fibre> fibres;
  std::vector<Waiting> waiting;  // of each fibre; separate, because it is searched often
  // Of each warp: the lanes that wait in a warp operation, and those that have ended.
  std::vector<unsigned> in_operation, ended;
  Fibre* current = nullptr;  // the one that runs
  boost::context::detail::fcontext_t scheduler = nullptr;
  bool finished = false, halted = false;
  bool any_at_barrier = false;  // whether a thread passed true at the last barrier
  const std::uint64_t serial;   // among the blocks of all launches
  std::vector<std::pair<const void*, std::unique_ptr<std::byte[]>>> shared_arrays;
  std::unique_ptr<std::byte[]> shared;  // dynamic
  std::unique_ptr<bool[]> shared_written;
  const void* own_stack = nullptr;  // the scheduler's, for the address sanitizer
  std::size_t own_stack_bytes = 0;

  void switch_to(Fibre& fibre);
  void switch_back();
  Waiting& waiting_of(const Fibre& fibre) { return waiting[fibre.number]; }
  // The fibre in that lane of the current fibre's warp.
  Fibre& partner(unsigned lane) { return fibres[current->number / warp_size * warp_size + lane]; }
  LaneValues& new_values(int readers);
  void forget_received(Fibre& fibre);

 private:
  Fibre* choose();
  std::size_t find(Waiting what, std::size_t from) const;
  bool release_barrier();
  static void enter(boost::context::detail::transfer_t from);

  std::deque<LaneValues> values_;
  std::vector<LaneValues*> free_values_;  // of those, without readers
};

Block* running = nullptr;  // whose turn it is

class Grid {
 public:
  Grid(const std::string& kernel_name, Dim3 grid_dim, Dim3 block_dim,
       const std::function<void()>& kernel_body, std::size_t dynamic_bytes)
      : kernel(kernel_name),
        shared_bytes(dynamic_bytes),
        size(grid_dim),
        block(block_dim),
        body(kernel_body),
        // Seeds of the generator that follow each other begin alike.
        random(static_cast<unsigned>(schedule.seed * 2654435761u)) {}

  void run();

  void fail(const std::string& what) {
    if (error.empty()) error = fmt::format("{}: {}", kernel, what);
  }

  const std::string kernel;
  const std::size_t shared_bytes;
  const Dim3 size, block;
  const std::function<void()>& body;
  std::minstd_rand random;
  std::string error;
  std::uint64_t idle_pauses = 0;
  std::vector<std::function<void()>> launches_after;

 private:
  // A random one of the blocks in flight; the halted one only if there is no other.
  Block& next();
  static void give_turn(Block* block) {
    running = block;
    running_block = block ? block->serial : 0;
  }

  std::vector<unsigned> waiting_blocks_;  // in reverse order of starting
  std::vector<std::unique_ptr<Block>> in_flight_;
};

Dim3 unflatten(unsigned i, Dim3 size) {
  return {i % size.x, i / size.x % size.y, i / size.x / size.y};
}

std::uint64_t last_serial = 0;

Block::Block(Grid& in_grid, unsigned number)
    : grid(in_grid), index(unflatten(number, in_grid.size)), serial(++last_serial) {
  shared.reset(new std::byte[grid.shared_bytes]);
  shared_written = std::make_unique<bool[]>(grid.shared_bytes);
  fibres.resize(std::size_t{grid.block.x} * grid.block.y * grid.block.z);
  waiting.assign(fibres.size(), Waiting::no);
  in_operation.assign((fibres.size() + warp_size - 1) / warp_size, 0);
  ended = in_operation;
  for (unsigned i = 0; i < fibres.size(); ++i) {
    Fibre& fibre = fibres[i];
    fibre.number = i;
    fibre.index = unflatten(i, grid.block);
    // Tops are spread over 4 KiB: at equal places in their stacks, all fibres would share a few
    // cache sets.
    const std::size_t unused = i % 64 * 64;
    fibre.context = boost::context::detail::make_fcontext(fibre.stack.get() + stack_bytes - unused,
                                                          stack_bytes - unused, &Block::enter);
  }
}

void Block::enter(boost::context::detail::transfer_t from) {
  auto* block = static_cast<Block*>(from.data);
  block->scheduler = from.fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &block->own_stack, &block->own_stack_bytes);
#endif
  try {
    block->grid.body();
  } catch (const Abandoned&) {  // the error is known already
  } catch (const std::exception& error) {
    block->grid.fail(error.what());
  }
  const unsigned number = block->current->number;
  block->waiting[number] = Waiting::finished;
  block->ended[number / warp_size] |= 1u << number % warp_size;
  block->switch_back();
}

void Block::switch_to(Fibre& fibre) {
  current = &fibre;
  fibre.has_begun = true;
#if defined(__SANITIZE_ADDRESS__)
  void* own = nullptr;
  __sanitizer_start_switch_fiber(&own, fibre.stack.get(), stack_bytes);
#endif
  fibre.context = boost::context::detail::jump_fcontext(fibre.context, this).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(own, nullptr, nullptr);
#endif
  current = nullptr;
}

void Block::switch_back() {
#if defined(__SANITIZE_ADDRESS__)
  Fibre& fibre = *current;
  __sanitizer_start_switch_fiber(
      waiting_of(fibre) == Waiting::finished ? nullptr : &fibre.fake_stack, own_stack,
      own_stack_bytes);
#endif
  scheduler = boost::context::detail::jump_fcontext(scheduler, nullptr).fctx;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fibre.fake_stack, nullptr, nullptr);
#endif
  if (!grid.error.empty()) throw Abandoned();
}

// The index of a fibre in state `what`, searched from `from` on and then from the first; the number
// of fibres if there is none.
std::size_t Block::find(Waiting what, std::size_t from) const {
  const Waiting* const first = waiting.data();
  const std::size_t count = waiting.size();
  const void* found = std::memchr(first + from, static_cast<int>(what), count - from);
  if (!found) found = std::memchr(first, static_cast<int>(what), from);
  return found ? static_cast<std::size_t>(static_cast<const Waiting*>(found) - first) : count;
}

// The next fibre that can run: depending on the order, the first, the last, or a random one. Fibres
// that wait for another block come last, in turn.
Fibre* Block::choose() {
  const std::size_t count = fibres.size();
  std::size_t i = 0;
  if (schedule.order == Order::reverse) {
    const void* const last = ::memrchr(waiting.data(), static_cast<int>(Waiting::no), count);
    i = last ? static_cast<std::size_t>(static_cast<const Waiting*>(last) - waiting.data()) : count;
  } else {
    i = find(Waiting::no, schedule.order == Order::random ? grid.random() % count : 0);
  }
  if (i == count) i = find(Waiting::other_block, grid.idle_pauses % count);
  return i == count ? nullptr : &fibres[i];
}

bool Block::release_barrier() {
  if (std::any_of(waiting.begin(), waiting.end(), [](Waiting w) { return w != Waiting::barrier; }))
    return false;
  any_at_barrier =
      std::any_of(fibres.begin(), fibres.end(), [](const Fibre& f) { return f.value != 0; });
  std::fill(waiting.begin(), waiting.end(), Waiting::no);
  return true;
}

LaneValues& Block::new_values(int readers) {
  if (free_values_.empty()) free_values_.push_back(&values_.emplace_back());
  LaneValues& values = *free_values_.back();
  free_values_.pop_back();
  values = {{}, readers};
  return values;
}

void Block::forget_received(Fibre& fibre) {
  LaneValues* const values = std::exchange(fibre.received, nullptr);
  if (values && --values->readers == 0) free_values_.push_back(values);
}

void Block::run() {
  while (grid.error.empty()) {
    Fibre* fibre = choose();
    if (!fibre && release_barrier()) continue;
    if (!fibre) {
      const auto count = [&](Waiting w) { return std::count(waiting.begin(), waiting.end(), w); };
      finished = count(Waiting::finished) == std::ssize(fibres);
      if (!finished)
        grid.fail(
            fmt::format("block ({}, {}): {} threads wait at a barrier and {} in a warp operation "
                        "for threads that will not come ({} have ended)",
                        index.x, index.y, count(Waiting::barrier) + count(Waiting::part_barrier),
                        count(Waiting::warp), count(Waiting::finished)));
      return;
    }
    Waiting& state = waiting_of(*fibre);
    const bool was_waiting = state == Waiting::other_block;
    state = Waiting::no;
    switch_to(*fibre);
    // A block that waits lets others run; one that does not wait is interrupted now and then.
    if (schedule.order == Order::random &&
        (was_waiting || state == Waiting::other_block || grid.random() % 256 == 0))
      return;
  }
}

void Block::abandon() {
  for (Fibre& fibre : fibres)
    if (fibre.has_begun && waiting_of(fibre) != Waiting::finished) switch_to(fibre);
}

Block& Grid::next() {
  auto candidates = in_flight_ | std::views::filter([](const auto& b) { return !b->halted; });
  const auto count = static_cast<std::uint64_t>(std::ranges::distance(candidates));
  if (count == 0) return *in_flight_.front();
  return **std::next(candidates.begin(), static_cast<std::ptrdiff_t>(random() % count));
}

void Grid::run() {
  const unsigned blocks = size.x * size.y * size.z;
  for (unsigned i = 0; i < blocks; ++i) waiting_blocks_.push_back(i);
  if (schedule.order == Order::forward)
    std::reverse(waiting_blocks_.begin(), waiting_blocks_.end());
  if (schedule.order == Order::random)
    std::shuffle(waiting_blocks_.begin(), waiting_blocks_.end(), random);
  const std::size_t most = schedule.order == Order::random ? schedule.resident : 1;
  bool has_halted = !schedule.halts;
  while (error.empty()) {
    while (in_flight_.size() < most && !waiting_blocks_.empty()) {
      in_flight_.push_back(std::make_unique<Block>(*this, waiting_blocks_.back()));
      waiting_blocks_.pop_back();
    }
    if (in_flight_.empty()) break;
    Block& block_to_run = next();
    give_turn(&block_to_run);
    block_to_run.run();
    give_turn(nullptr);
    if (block_to_run.finished)
      std::erase_if(in_flight_, [&](const auto& other) { return other.get() == &block_to_run; });
    else if (!std::exchange(has_halted, true))
      block_to_run.halted = true;
  }
  for (const auto& unfinished : in_flight_) {  // after a failure
    give_turn(unfinished.get());
    unfinished->abandon();
  }
  give_turn(nullptr);
  if (!error.empty()) throw Undefined(error);
}

}  // namespace

void set_schedule(const Schedule& next) {
  schedule = next;
}

void launch(const std::string& kernel, Dim3 grid, Dim3 block, const std::function<void()>& body,
            std::size_t shared_bytes) {
  ++counts.launches;
  if (observer) observer->launched(kernel, grid, block);
  Grid launched(kernel, grid, block, body, shared_bytes);
  launched.run();
  for (const auto& launch_next : launched.launches_after) launch_next();
}

void launch_after_grid(const std::string& kernel, Dim3 grid, Dim3 block,
                       const std::function<void()>& body, std::size_t shared_bytes) {
  running->grid.launches_after.push_back([=] { launch(kernel, grid, block, body, shared_bytes); });
}

std::byte* shared_array(const void* array, std::size_t bytes) {
  for (const auto& [known, memory] : running->shared_arrays)
    if (known == array) return memory.get();
  auto& arrays = running->shared_arrays;
  return arrays.emplace_back(array, std::make_unique<std::byte[]>(bytes)).second.get();
}

std::size_t dynamic_shared_bytes() {
  return running->grid.shared_bytes;
}
std::byte* dynamic_shared() {
  return running->shared.get();
}
bool* dynamic_shared_written() {
  return running->shared_written.get();
}

bool is_running() {
  return running && running->current;
}
unsigned thread_number() {
  return running->current->number;
}
unsigned block_number() {
  const Dim3 &b = running->index, &grid = running->grid.size;
  return (b.z * grid.y + b.y) * grid.x + b.x;
}
const Dim3& thread_index() {
  return running->current->index;
}
const Dim3& block_index() {
  return running->index;
}
const Dim3& block_size() {
  return running->grid.block;
}
const Dim3& grid_size() {
  return running->grid.size;
}
unsigned lane_index() {
  return running->current->number % warp_size;
}

void undefined(const std::string& what) {
  const Dim3 &b = block_index(), &t = thread_index();
  throw Undefined(fmt::format("block ({}, {}), thread ({}, {}): {}", b.x, b.y, t.x, t.y, what));
}

bool block_barrier(bool predicate) {
  if (observer) observer->synchronised();
  running->current->value = predicate;
  running->waiting_of(*running->current) = Waiting::barrier;
  running->switch_back();
  return running->any_at_barrier;
}

void part_barrier(unsigned threads, unsigned number) {
  if (observer) observer->synchronised();
  Block& block = *running;
  block.current->value = threads;
  block.current->barrier = number;
  block.waiting_of(*block.current) = Waiting::part_barrier;
  std::vector<unsigned> arrived;  // fibres
  for (const Fibre& fibre : block.fibres) {
    if (block.waiting_of(fibre) != Waiting::part_barrier || fibre.barrier != number) continue;
    if (fibre.value != threads)
      undefined(fmt::format("a barrier of {} threads, at which a thread waits for {}", threads,
                            fibre.value));
    arrived.push_back(fibre.number);
  }
  if (arrived.size() == threads)
    for (const unsigned fibre : arrived) block.waiting[fibre] = Waiting::no;
  block.switch_back();
}

// All lanes of the mask wait in warp operations. Gives each of them all values; it is undefined if
// the operations or masks differ.
static void complete(Block& block, unsigned mask, WarpOperation operation) {
  LaneValues& values = block.new_values(std::popcount(mask));
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Fibre& other = block.partner(lane);
    if (other.mask != mask || other.operation != operation)
      undefined(fmt::format(
          "lane {} waits with mask {:08x} in another operation than lane {} with mask {:08x}", lane,
          other.mask, lane_index(), mask));
    values.of_lane[lane] = other.value;
  }
  for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
    Fibre& other = block.partner(static_cast<unsigned>(std::countr_zero(rest)));
    other.received = &values;
    block.waiting_of(other) = Waiting::no;
  }
}

const std::uint64_t* exchange(WarpOperation operation, unsigned mask, std::uint64_t value) {
  if (observer) observer->synchronised();
  Block& block = *running;
  Fibre& self = *block.current;
  const unsigned lane = self.number % warp_size;
  if ((mask >> lane & 1) == 0)
    undefined(fmt::format("lane {} is not in its own mask {:08x}", lane, mask));
  const unsigned warp_begin = self.number - lane;
  const auto present =
      static_cast<unsigned>(std::min<std::size_t>(warp_size, block.fibres.size() - warp_begin));
  if (present < warp_size && mask >> present != 0)
    undefined(fmt::format("mask {:08x} names lanes that do not exist", mask));
  block.forget_received(self);
  self.operation = operation;
  self.mask = mask;
  self.value = value;
  block.waiting_of(self) = Waiting::warp;
  unsigned& in_operation = block.in_operation[warp_begin / warp_size];
  in_operation |= 1u << lane;
  if (const unsigned gone = block.ended[warp_begin / warp_size] & mask)
    undefined(fmt::format("lane {} of mask {:08x} has ended", std::countr_zero(gone), mask));
  if ((in_operation & mask) == mask) {
    complete(block, mask, operation);
    in_operation &= ~mask;
  }
  block.switch_back();
  return self.received->of_lane;
}

void pause() {
  Grid& grid = running->grid;
  if (++grid.idle_pauses > patience) {
    const Dim3& b = block_index();
    undefined(
        fmt::format("block ({}, {}) waits for something that never comes: blocks that have not "
                    "started cannot help it",
                    b.x, b.y));
  }
  running->waiting_of(*running->current) = Waiting::other_block;
  running->switch_back();
}

void progress() {
  running->grid.idle_pauses = 0;
}

}  // namespace simt
