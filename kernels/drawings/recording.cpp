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
      if (first >= width) continue;  // past the end of the row, where another buffer may begin
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
      launches_.back().flow.insert({threads_[to].step, -1, from, to});
  }
  void accessed_shared(const void* array, unsigned index, bool is_write,
                       std::uint64_t bits) override {
    if (simt::block_number() != 0) return;
    LaunchFlow& launch = launches_.back();
    Thread& thread = threads_[simt::thread_number()];
    // Arrays are numbered as they are met.
    const int number =
        launch.arrays.try_emplace(array, static_cast<int>(launch.arrays.size())).first->second;
    const auto value = static_cast<std::uint32_t>(bits);
    if (!is_write) {
      if (std::exchange(thread.has_written, false)) thread.reads.clear();
      thread.reads.push_back({number, index, value});
      return;
    }
    thread.has_written = true;
    for (const Read& read : summands(thread.reads, value))
      if (read.array == number && read.index != index)
        launch.flow.insert({thread.step, number, read.index, index});
  }

  std::vector<std::vector<Flow>> finish() const {
    std::vector<std::vector<Flow>> all;
    for (const LaunchFlow& launch : launches_)
      all.emplace_back(launch.flow.begin(), launch.flow.end());
    return all;
  }

 private:
  struct Read {
    int array;
    unsigned index;
    std::uint32_t value;
  };
  struct Thread {
    unsigned step = 0;
    std::vector<Read> reads;  // since it wrote something
    bool has_written = false;
  };
  struct LaunchFlow {
    std::set<Flow> flow;
    std::map<const void*, int> arrays;
  };

  // Those of a thread's last reads, at most three, whose values add up to this one; none
  // if there are no such. Values are random, so that another equal sum is unlikely.
  static std::vector<Read> summands(const std::vector<Read>& reads, std::uint32_t value) {
    constexpr std::size_t most = 32;
    const std::size_t count = std::min(reads.size(), most);
    const Read* const last = reads.data() + (reads.size() - count);
    for (std::size_t i = 0; i < count; ++i)
      if (last[i].value == value) return {last[i]};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j)
        if (last[i].value + last[j].value == value) return {last[i], last[j]};
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = i + 1; j < count; ++j)
        for (std::size_t k = j + 1; k < count; ++k)
          if (last[i].value + last[j].value + last[k].value == value)
            return {last[i], last[j], last[k]};
    return {};
  }

  std::vector<Thread> threads_;
  std::vector<LaunchFlow> launches_;
};

class WarpListener final : public Listener {
 public:
  explicit WarpListener(unsigned launch) : launch_(launch) {}
  void launched(const std::string&, const simt::Dim3&, const simt::Dim3&) override { ++launches_; }
  void accessed_shared(const void*, unsigned index, bool is_write, std::uint64_t) override {
    if (launches_ == launch_ + 1 && simt::block_number() == 0 && simt::thread_number() < lanes)
      by_lane_[simt::thread_number()].push_back({is_write, index});
  }

  std::vector<WarpAccess> finish() const {
    std::vector<WarpAccess> all;
    std::size_t shortest = by_lane_[0].size();
    for (const auto& accesses : by_lane_) shortest = std::min(shortest, accesses.size());
    for (std::size_t i = 0; i < shortest; ++i) {
      WarpAccess access{by_lane_[0][i].is_write, {}};
      for (const auto& accesses : by_lane_) {
        if (accesses[i].is_write != access.is_write) return all;  // lanes go different ways
        access.words.push_back(accesses[i].index);
      }
      all.push_back(std::move(access));
    }
    return all;
  }

 private:
  static constexpr unsigned lanes = 32;
  struct Access {
    bool is_write;
    unsigned index;
  };
  std::array<std::vector<Access>, lanes> by_lane_;
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
