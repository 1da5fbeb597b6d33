#include "core/frame_memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>

namespace facesat {
namespace {

constexpr std::size_t alignment = 64;

// Sizes are rounded up by at most an eighth, so that frames of similar sizes share memory. Under
// AddressSanitizer, memory is neither rounded up nor kept, so that it sees every misuse.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t most_idle_bytes = 0, least_step = alignment, steps = 1 << 30;
#else
constexpr std::size_t most_idle_bytes = std::size_t{512} << 20, least_step = 1 << 16, steps = 8;
#endif

std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max(least_step, std::bit_floor(bytes) / steps);
  return (std::max<std::size_t>(bytes, 1) + step - 1) / step * step;
}

constexpr Allocator usual{
    [](std::size_t bytes) { return std::aligned_alloc(alignment, bytes); },
    [](void* memory, std::size_t) { std::free(memory); },
};

struct Block {
  void* memory = nullptr;
  std::size_t bytes = 0;
  Allocator from = usual;

  void release() const { from.free(memory, bytes); }
};

Block allocate(std::size_t bytes, const Allocator& allocator) {
  for (const Allocator& from : {allocator, usual})
    if (void* const memory = from.allocate(bytes)) return {memory, bytes, from};
  return {};
}

class IdleBlocks {
 public:
  Block take(std::size_t bytes) {
    const std::size_t wanted = rounded(bytes);
    std::unique_lock lock(mutex_);
    const auto smallest = blocks_.lower_bound(wanted);
    if (smallest != blocks_.end() && smallest->first <= 2 * wanted) {
      const Block block = smallest->second;
      blocks_.erase(smallest);
      idle_bytes_ -= block.bytes;
      return block;
    }
    const Allocator allocator = allocator_;
    lock.unlock();  // page-locking takes long
    Block block = allocate(wanted, allocator);
    if (!block.memory) {
      clear();
      block = allocate(wanted, allocator);
    }
    if (!block.memory) throw MemoryError("the picture", wanted);
    return block;
  }

  void give_back(const Block& block) {
    const std::scoped_lock lock(mutex_);
    const bool is_outdated = block.from.allocate != allocator_.allocate;
    if (is_outdated || idle_bytes_ + block.bytes > most_idle_bytes) {
      block.release();
      return;
    }
    blocks_.emplace(block.bytes, block);
    idle_bytes_ += block.bytes;
  }

  void allocate_with(const Allocator& allocator) {
    {
      const std::scoped_lock lock(mutex_);
      allocator_ = allocator;
    }
    clear();
  }

 private:
  void clear() {
    const std::scoped_lock lock(mutex_);
    for (const auto& [bytes, block] : blocks_) block.release();
    blocks_.clear();
    idle_bytes_ = 0;
  }

  std::mutex mutex_;
  Allocator allocator_ = usual;
  std::multimap<std::size_t, Block> blocks_;  // by their size
  std::size_t idle_bytes_ = 0;
};

// Never destroyed: frames may outlive all other objects, and so may their memory.
IdleBlocks& idle_blocks() {
  static auto* const blocks = new IdleBlocks;
  return *blocks;
}

}  // namespace

std::shared_ptr<void> frame_memory(std::size_t bytes) {
  const Block block = idle_blocks().take(bytes);
  return {block.memory, [block](void*) { idle_blocks().give_back(block); }};
}

void allocate_frames_with(const Allocator& allocator) {
  idle_blocks().allocate_with(allocator);
}

}  // namespace facesat
