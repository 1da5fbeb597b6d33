#include "kernels/drawings/recording.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace facesat::drawings {
namespace {

// While it lives, simulated kernels tell it what they do.
class Listener : public simt::Observer {
 public:
  Listener() { simt::observer = this; }
  ~Listener() override { simt::observer = nullptr; }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void launched(const std::string&, const simt::Dim3&, const simt::Dim3&) override {}
  void synchronised() override {}
  void received(unsigned) override {}
  void accessed(const void*, std::size_t, bool) override {}
  void accessed_shared(const void*, std::size_t, bool) override {}
};

// "(name<arguments>)" without brackets and arguments.
std::string plain_name(const std::string& kernel) {
  const std::size_t begin = kernel.find_first_not_of('(');
  return kernel.substr(begin, kernel.find_first_of("<)", begin) - begin);
}

class MemoryListener final : public Listener {
 public:
  explicit MemoryListener(const std::vector<Buffer>& buffers) : buffers_(buffers) {}

  void launched(const std::string& kernel, const simt::Dim3& grid,
                const simt::Dim3& block) override {
    Launch launch{plain_name(kernel), grid, block, {}};
    for (const Buffer& buffer : buffers_)
      launch.buffers.emplace_back(static_cast<std::size_t>(buffer.size.area()));
    launches.push_back(std::move(launch));
  }

  void accessed(const void* address, std::size_t bytes, bool is_write) override {
    if (launches.empty()) return;
    const auto* const at = static_cast<const std::byte*>(address);
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const Buffer& buffer = buffers_[i];
      if (buffer.size.area() == 0) continue;
      const std::ptrdiff_t offset = at - static_cast<const std::byte*>(buffer.data);
      const auto row = offset / static_cast<std::ptrdiff_t>(buffer.pitch);
      if (offset < 0 || row >= buffer.size.height) continue;
      const auto width = static_cast<std::size_t>(buffer.size.width);
      const std::size_t in_row = static_cast<std::size_t>(offset) % buffer.pitch,
                        first = in_row / buffer.element_bytes,
                        last = (in_row + bytes - 1) / buffer.element_bytes;
      for (std::size_t x = first; x <= last && x < width; ++x) {
        Element& element = launches.back().buffers[i][static_cast<std::size_t>(row) * width + x];
        (is_write ? element.writes : element.reads).push_back(simt::block_number());
      }
      return;
    }
  }

  std::vector<Launch> launches;

 private:
  const std::vector<Buffer>& buffers_;
};

// In the first block of each launch.
class FlowListener final : public Listener {
 public:
  void launched(const std::string&, const simt::Dim3&, const simt::Dim3& block) override {
    threads_.assign(block.x * block.y * block.z, {});
    launches_.emplace_back();
  }
  void synchronised() override {
    if (simt::block_number() == 0) ++threads_[simt::thread_number()].step;
  }
  void received(unsigned from) override {
    const unsigned to = simt::thread_number();
    if (simt::block_number() == 0 && to < 32 && from != to)
      launches_.back().shuffled.push_back({threads_[to].step, -1, from, to});
  }
  void accessed_shared(const void* address, std::size_t bytes, bool is_write) override {
    if (simt::block_number() != 0) return;
    LaunchFlow& launch = launches_.back();
    Thread& thread = threads_[simt::thread_number()];
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    launch.elements[place] = bytes;
    if (!is_write) return thread.read.push_back(place);
    for (const std::uintptr_t from : thread.read)
      if (from != place) launch.shared.push_back({thread.step, from, place});
    thread.read.clear();
  }

  std::vector<std::vector<Flow>> finish() const {
    std::vector<std::vector<Flow>> all;
    for (const LaunchFlow& launch : launches_) {
      std::set<Flow> flow(launch.shuffled.begin(), launch.shuffled.end());
      const auto places = numbered(launch.elements);
      for (const auto& [step, from, to] : launch.shared)
        if (places.at(from).first == places.at(to).first)
          flow.insert({step, places.at(to).first, places.at(from).second, places.at(to).second});
      all.emplace_back(flow.begin(), flow.end());
    }
    return all;
  }

 private:
  struct Thread {
    unsigned step = 0;
    std::vector<std::uintptr_t> read;  // since its last write
  };
  struct SharedFlow {
    unsigned step;
    std::uintptr_t from, to;
  };
  using Elements = std::map<std::uintptr_t, std::size_t>;  // addresses and sizes
  struct LaunchFlow {
    std::vector<Flow> shuffled;
    std::vector<SharedFlow> shared;
    Elements elements;
  };

  // The array and the index of each element: arrays are apart, because of what SharedArray keeps
  // besides its elements.
  static std::map<std::uintptr_t, std::pair<int, unsigned>> numbered(const Elements& elements) {
    std::map<std::uintptr_t, std::pair<int, unsigned>> places;
    int array = -1;
    std::uintptr_t begin = 0, end = 0;
    for (const auto& [address, bytes] : elements) {
      if (array < 0 || address > end + bytes) ++array, begin = address;
      places[address] = {array, static_cast<unsigned>((address - begin) / bytes)};
      end = address + bytes;
    }
    return places;
  }

  std::vector<Thread> threads_;
  std::vector<LaunchFlow> launches_;
};

class BankListener final : public Listener {
 public:
  void launched(const std::string&, const simt::Dim3&, const simt::Dim3&) override { ++launches_; }
  void accessed_shared(const void* address, std::size_t bytes, bool is_write) override {
    if (launches_ != 1 || simt::block_number() != 0 || simt::thread_number() >= lanes) return;
    const unsigned lane = simt::thread_number();
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    first_ = std::min(first_, place);
    by_lane_[lane].push_back({is_write, place / bytes});
  }

  std::vector<WarpAccess> finish() const {
    std::vector<WarpAccess> all;
    std::size_t shortest = by_lane_[0].size();
    for (const auto& accesses : by_lane_) shortest = std::min(shortest, accesses.size());
    for (std::size_t i = 0; i < shortest; ++i) {
      WarpAccess access{by_lane_[0][i].is_write, {}};
      for (const auto& accesses : by_lane_)
        access.banks.push_back(static_cast<unsigned>((accesses[i].word - first_ / 4) % bank_count));
      all.push_back(std::move(access));
    }
    return all;
  }

 private:
  static constexpr unsigned lanes = 32;
  struct Access {
    bool is_write;
    std::uintptr_t word;
  };
  std::array<std::vector<Access>, lanes> by_lane_;
  std::uintptr_t first_ = std::numeric_limits<std::uintptr_t>::max();
  unsigned launches_ = 0;
};

}  // namespace

std::vector<Launch> record(const std::vector<Buffer>& buffers, const std::function<void()>& body) {
  MemoryListener listener(buffers);
  body();
  return std::move(listener.launches);
}

std::vector<std::vector<Flow>> record_flow(const std::function<void()>& body) {
  FlowListener listener;
  body();
  return listener.finish();
}

std::vector<WarpAccess> record_banks(const std::function<void()>& body) {
  BankListener listener;
  body();
  return listener.finish();
}

}  // namespace facesat::drawings

// ---- called by code that is compiled with -fsanitize=thread

namespace {

void accessed(const void* address, std::size_t bytes, bool is_write) {
  if (simt::observer && simt::is_running()) simt::observer->accessed(address, bytes, is_write);
}

}  // namespace

extern "C" {
void __tsan_init();
void __tsan_func_entry(void*);
void __tsan_func_exit();
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*);
void __tsan_vptr_update(void**, void*) {}

#define FACESAT_ACCESS(name, bytes, is_write) \
  void __tsan_##name(void*);                  \
  void __tsan_##name(void* address) {         \
    accessed(address, bytes, is_write);       \
  }
#define FACESAT_ACCESSES(bytes)                       \
  FACESAT_ACCESS(read##bytes, bytes, false)           \
  FACESAT_ACCESS(write##bytes, bytes, true)           \
  FACESAT_ACCESS(unaligned_read##bytes, bytes, false) \
  FACESAT_ACCESS(unaligned_write##bytes, bytes, true)
FACESAT_ACCESSES(1)
FACESAT_ACCESSES(2)
FACESAT_ACCESSES(4)
FACESAT_ACCESSES(8)
FACESAT_ACCESSES(16)
#undef FACESAT_ACCESSES
#undef FACESAT_ACCESS

void __tsan_read_range(void*, std::size_t);
void __tsan_write_range(void*, std::size_t);
void __tsan_read_range(void* address, std::size_t bytes) {
  accessed(address, bytes, false);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  accessed(address, bytes, true);
}
}
