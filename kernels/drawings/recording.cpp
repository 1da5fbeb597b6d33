#include "kernels/drawings/recording.hpp"

#include <algorithm>
#include <array>
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
  void accessed_shared(const void*, std::size_t, bool, std::uint64_t) override {}
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

using Elements = std::map<std::uintptr_t, std::size_t>;  // addresses and sizes

// The array and the index of each element: arrays are apart, because of what SharedArray keeps
// besides its elements.
std::map<std::uintptr_t, std::pair<int, unsigned>> numbered(const Elements& elements) {
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

// In the first block of each launch, of sums of random integers.
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
  void accessed_shared(const void* address, std::size_t bytes, bool is_write,
                       std::uint64_t value) override {
    if (simt::block_number() != 0) return;
    LaunchFlow& launch = launches_.back();
    Thread& thread = threads_[simt::thread_number()];
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    launch.elements[place] = bytes;
    if (!is_write) {
      if (std::exchange(thread.has_written, false)) thread.reads.clear();
      thread.reads.push_back({place, static_cast<std::uint32_t>(value)});
      return;
    }
    thread.has_written = true;
    for (const std::uintptr_t from : summands(thread.reads, static_cast<std::uint32_t>(value)))
      if (from != place) launch.shared.push_back({thread.step, from, place});
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
  struct Read {
    std::uintptr_t place;
    std::uint32_t value;
  };
  struct Thread {
    unsigned step = 0;
    std::vector<Read> reads;  // since it wrote something
    bool has_written = false;
  };
  struct SharedFlow {
    unsigned step;
    std::uintptr_t from, to;
  };
  struct LaunchFlow {
    std::vector<Flow> shuffled;
    std::vector<SharedFlow> shared;
    Elements elements;
  };

  // Those of a thread's last reads, at most three, whose values add up to this one; none if there
  // are no such. Values are random, so that no other sum is equal.
  static std::vector<std::uintptr_t> summands(const std::vector<Read>& reads, std::uint32_t value) {
    constexpr std::size_t most = 32;
    const std::size_t count = std::min(reads.size(), most);
    const Read* const last = reads.data() + (reads.size() - count);
    for (std::size_t i = 0; i < count; ++i)
      if (last[i].value == value) return {last[i].place};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j)
        if (last[i].value + last[j].value == value) return {last[i].place, last[j].place};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j)
        for (std::size_t k = j + 1; k < count; ++k)
          if (last[i].value + last[j].value + last[k].value == value)
            return {last[i].place, last[j].place, last[k].place};
    return {};
  }

  std::vector<Thread> threads_;
  std::vector<LaunchFlow> launches_;
};

class WarpListener final : public Listener {
 public:
  explicit WarpListener(unsigned launch) : launch_(launch) {}
  void launched(const std::string&, const simt::Dim3&, const simt::Dim3&) override { ++launches_; }
  void accessed_shared(const void* address, std::size_t bytes, bool is_write,
                       std::uint64_t) override {
    if (launches_ != launch_ + 1 || simt::block_number() != 0 || simt::thread_number() >= lanes)
      return;
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    elements_[place] = bytes;
    by_lane_[simt::thread_number()].push_back({is_write, place});
  }

  std::vector<WarpAccess> finish() const {
    std::vector<WarpAccess> all;
    const auto places = numbered(elements_);
    std::size_t shortest = by_lane_[0].size();
    for (const auto& accesses : by_lane_) shortest = std::min(shortest, accesses.size());
    for (std::size_t i = 0; i < shortest; ++i) {
      WarpAccess access{by_lane_[0][i].is_write, {}};
      for (const auto& accesses : by_lane_)
        access.words.push_back(places.at(accesses[i].place).second);
      all.push_back(std::move(access));
    }
    return all;
  }

 private:
  static constexpr unsigned lanes = 32;
  struct Access {
    bool is_write;
    std::uintptr_t place;
  };
  std::array<std::vector<Access>, lanes> by_lane_;
  Elements elements_;
  unsigned launch_, launches_ = 0;
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

int WarpAccess::turns() const {
  std::map<unsigned, std::set<unsigned>> words_of_bank;
  std::size_t most = 0;
  for (const unsigned word : words) {
    std::set<unsigned>& of_bank = words_of_bank[word % banks];
    of_bank.insert(word);
    most = std::max(most, of_bank.size());
  }
  return static_cast<int>(most);
}

std::vector<WarpAccess> record_warp(const std::function<void()>& body, unsigned launch) {
  WarpListener listener(launch);
  body();
  return listener.finish();
}

}  // namespace facesat::drawings

// ---- called by code that is compiled with -fsanitize=thread

namespace {

void accessed(const void* address, std::size_t bytes, bool is_write) {
  if (!simt::observer || !simt::is_running()) return;
  // The listener may be told of its own accesses, by functions of the standard library.
  static thread_local bool is_listening = false;
  if (std::exchange(is_listening, true)) return;
  simt::observer->accessed(address, bytes, is_write);
  is_listening = false;
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
