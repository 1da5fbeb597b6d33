// Latencies are measured with chains: instructions of one warp, each of which needs the result of
// the one before it. Throughputs are measured with every multiprocessor full of threads. Speeds and
// launch times are measured between two events of a stream.
#include "kernels/device/gpu_info.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/sat/tile.cuh"
#include "lab/micro.hpp"
#include "lab/problems/sat.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

// ---- throughputs: each thread has several independent chains of operations, so that the latency
// of one is hidden by the others

namespace throughput {

constexpr int threads = 256;  // of a block
// Operations of a thread: in each round, `steps` of each chain, unrolled far enough for the loop's
// cost to be negligible.
constexpr int chains = 8, steps = 16, rounds = 512;

// One operation of a chain, given the current value of this chain and of the next two. These make
// it impossible to compute two consecutive operations by one instruction. Values differ between
// lanes and are known only at run time.
//
// nvcc spreads integer additions over two units (IADD3 and IMAD), here as in other kernels.
template <class T>
struct Addition {
  using Word = T;
  __device__ Word begin(Word value) const { return value + static_cast<Word>(threadIdx.x); }
  __device__ Word operator()(Word value, Word next, Word) const { return value + next; }
};
// The exclusive or comes free: one instruction computes any function of three words bit by bit.
struct And : Addition<unsigned> {
  __device__ Word operator()(Word value, Word next, Word second) const {
    return (value & next) ^ second;
  }
};
struct Shuffle : Addition<unsigned> {
  __device__ Word operator()(Word value, Word, Word) const {
    return __shfl_up_sync(full_warp, value, 1);
  }
};
// Each thread has a word, which contains its own address.
struct SharedRead {
  using Word = unsigned;
  DynamicShared<Word> memory;
  __device__ Word begin(Word) const {
    const Word address = memory.address() + threadIdx.x * static_cast<Word>(sizeof(Word));
    memory[static_cast<int>(threadIdx.x)] = address;
    __syncthreads();
    return address;
  }
  __device__ Word operator()(Word value, Word, Word) const { return memory.at(value); }
};

// The ends keep the chains from being removed.
template <class Operation>
__global__ void __launch_bounds__(threads)
    throughput_kernel(typename Operation::Word first, typename Operation::Word* ends) {
  using Word = typename Operation::Word;
  const Operation operation{};
  Word values[chains];
  FACESAT_UNROLL
  for (int chain = 0; chain < chains; ++chain)
    values[chain] = operation.begin(first + static_cast<Word>(chain));
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    FACESAT_UNROLL
    for (int i = 0; i < steps * chains; ++i) {
      Word& value = values[i % chains];
      value = operation(value, values[(i + 1) % chains], values[(i + 2) % chains]);
    }
  }
  Word end{};
  FACESAT_UNROLL
  for (int chain = 0; chain < chains; ++chain) end += values[chain];
  ends[blockIdx.x * threads + threadIdx.x] = end;
}

// Operations of all lanes per second.
template <class Operation>
double per_second(lab::StreamTimer& timer, int multiprocessors) {
  using Word = typename Operation::Word;
  constexpr std::size_t shared_bytes = threads * sizeof(unsigned);
  const auto kernel = throughput_kernel<Operation>;
  int resident = 0;
  FACESAT_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared_bytes));
  const int blocks = multiprocessors * resident;
  const Buffer<Word> ends(static_cast<std::size_t>(blocks) * threads);
  const double seconds = lab::least([&] {
    return timer.seconds([&] {
      FACESAT_LAUNCH_SHARED(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads),
                            shared_bytes, timer.stream(), Word{1}, ends.data());
    });
  });
  return static_cast<double>(ends.size()) * rounds * steps * chains / seconds;
}

}  // namespace throughput

// Measures all operations per second and shared_bytes_per_s. `figures` must have the number of
// multiprocessors.
void measure_throughputs(lab::StreamTimer& timer, MicroFigures& figures) {
  const int count = figures.multiprocessors;
  figures.shared_bytes_per_s =
      sizeof(unsigned) * throughput::per_second<throughput::SharedRead>(timer, count);
  figures.shuffles_per_s = throughput::per_second<throughput::Shuffle>(timer, count);
  figures.adds_per_s = throughput::per_second<throughput::Addition<unsigned>>(timer, count);
  figures.ands_per_s = throughput::per_second<throughput::And>(timer, count);
  figures.f32_adds_per_s = throughput::per_second<throughput::Addition<float>>(timer, count);
  figures.f64_adds_per_s = throughput::per_second<throughput::Addition<double>>(timer, count);
}

// ---- latencies, speeds and launch times

// Steps of a chain, unrolled far enough for the loop's cost to be negligible.
constexpr int unrolled = 128, rounds = 32, steps = rounds * unrolled;

// One step of a chain: the new value depends on the old one. The compiler cannot shorten the chain:
// values differ between lanes (uniform ones could move to scalar units, and their shuffles vanish),
// `other` is known only at run time, and consecutive steps do not fuse into one instruction.
struct OfLanes {  // begin() makes the value differ between lanes
  using Word = unsigned;
  __device__ void begin(Word& value) const { value += threadIdx.x; }
};
struct Add : OfLanes {
  __device__ void operator()(Word& value, Word& other) const {
    const Word sum = value + other;
    other = value;
    value = sum;
  }
};
struct AndThenAdd : OfLanes {
  __device__ void operator()(Word& value, Word& other) const { value = (value & other) + other; }
};
struct Shuffle : OfLanes {
  __device__ void operator()(Word& value, Word&) const {
    value = __shfl_up_sync(full_warp, value, 1);
  }
};
struct SharedRead {
  using Word = unsigned;
  DynamicShared<Word> memory;  // a word for each lane: its own address
  __device__ void begin(Word& value) const {
    const int lane = static_cast<int>(threadIdx.x);
    value = memory.address() + threadIdx.x * static_cast<Word>(sizeof(Word));
    memory[lane] = value;
  }
  __device__ void operator()(Word& value, Word&) const { value = memory.at(value); }
};
// Follows a chain of pointers; the load bypasses the L1 cache. All lanes read the same pointer, so
// begin() has nothing to add.
struct GlobalRead {
  using Word = unsigned long long;
  __device__ void begin(Word&) const {}
  __device__ void operator()(Word& value, Word&) const {
    value = __ldcg(reinterpret_cast<const Word*>(value));
  }
};

struct ChainEnd {
  long long clocks;
  unsigned long long value;  // keeps the chain from being removed
};

// Runs a chain in one warp, from the given value on.
template <class Step>
__global__ void chain_kernel(typename Step::Word value, typename Step::Word other, ChainEnd* end) {
  const Step step{};
  step.begin(value);
  const long long begin = clock64();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    FACESAT_UNROLL
    for (int i = 0; i < unrolled; ++i) step(value, other);
  }
  const long long clocks = clock64() - begin;
  if (threadIdx.x == 0) *end = {clocks, value};
}

// A ring of pointers in global memory, one per step of a chain, each in a cache line of its own.
// The stride in bytes is no power of two, lest all of them compete for the same part of the cache.
constexpr std::size_t link_stride = 8192 + 128;

__global__ void link_kernel(std::byte* memory) {
  using Word = GlobalRead::Word;
  const unsigned link = blockIdx.x * blockDim.x + threadIdx.x;
  *reinterpret_cast<Word*>(memory + link * link_stride) =
      reinterpret_cast<Word>(memory + (link + 1) % steps * link_stride);
}

// Occupies the stream for `clocks` clocks.
__global__ void spin_kernel(long long clocks) {
  const long long begin = clock64();
  while (clock64() - begin < clocks) {
  }
}

__global__ void empty_kernel() {}

class Micro {
 public:
  explicit Micro(int device) : device_(device), end_(1) {}

  MicroFigures measure() {
    MicroFigures figures;
    figures.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    figures.limits = {attribute(cudaDevAttrMaxRegistersPerMultiprocessor),
                      attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                      attribute(cudaDevAttrMaxBlocksPerMultiprocessor),
                      attribute(cudaDevAttrMaxThreadsPerMultiProcessor)};
    figures.clock_hz = clock_hz();  // first, because it makes the clock rise
    figures.shuffle = latency<Shuffle>();
    figures.shared_read = latency<SharedRead>();
    figures.add = latency<Add>();
    figures.bit_and = latency<AndThenAdd>() - figures.add;
    measure_memory(figures);
    measure_throughputs(timer_, figures);
    figures.launch_us = launch_us();
    return figures;
  }

 private:
  int attribute(cudaDeviceAttr which) const {
    int value = 0;
    FACESAT_CUDA(cudaDeviceGetAttribute(&value, which, device_));
    return value;
  }

  // Keeps the stream busy for about ten milliseconds.
  void spin() { FACESAT_LAUNCH(spin_kernel, dim3(1), dim3(1), timer_.stream(), spin_clocks); }

  double clock_hz() {
    return static_cast<double>(spin_clocks) /
           lab::least([&] { return timer_.seconds([&] { spin(); }); });
  }

  template <class Step>
  double clocks_per_step(typename Step::Word value, typename Step::Word other) {
    FACESAT_LAUNCH_SHARED(chain_kernel<Step>, dim3(1), dim3(32), 32 * sizeof(unsigned),
                          timer_.stream(), value, other, end_.data());
    ChainEnd end{};
    FACESAT_CUDA(
        cudaMemcpyAsync(&end, end_.data(), sizeof end, cudaMemcpyDeviceToHost, timer_.stream()));
    FACESAT_CUDA(cudaStreamSynchronize(timer_.stream()));
    return static_cast<double>(end.clocks) / steps;
  }

  template <class Step>
  double latency() {
    return lab::least([&] { return clocks_per_step<Step>(1, 3); });  // any two values will do
  }

  // The copy, of 256 MiB, evicts all links of the ring from the L2 cache, so a walk after it reads
  // memory. A walk leaves the links in the L2 cache, where the next one finds them.
  void measure_memory(MicroFigures& figures) {
    figures.memcpy_bytes_per_s = copy_speed(device_).memory;
    constexpr Size size{8192, 4096};
    constexpr std::size_t pixels = static_cast<std::size_t>(size.width) * size.height;
    const Buffer<float> from(pixels), to(pixels);
    FACESAT_CUDA(cudaMemsetAsync(from.data(), 0, from.bytes(), timer_.stream()));
    const Buffer<std::byte> links(steps * link_stride);
    FACESAT_LAUNCH(link_kernel, dim3(rounds), dim3(unrolled), timer_.stream(), links.data());
    const SatTask copy{.type = SatType::f32_f32,
                       .size = size,
                       .input = from.data(),
                       .input_pitch = size.width,
                       .sum = to.data(),
                       .sum_pitch = size.width};
    const auto copy_seconds = [&] {
      return timer_.seconds([&] { enqueue_floor(copy, timer_.stream()); });
    };
    const auto walk = [&] {
      return clocks_per_step<GlobalRead>(reinterpret_cast<GlobalRead::Word>(links.data()), 0);
    };
    figures.kernel_copy_bytes_per_s =
        static_cast<double>(from.bytes() + to.bytes()) / lab::least(copy_seconds);
    figures.global_read = lab::least([&] {
      copy_seconds();
      return walk();
    });
    figures.l2_read = lab::least(walk);
  }

  // Microseconds per launch in a row of empty kernels. The stream spins first, so that all of them
  // are enqueued before the first one may start.
  double launch_us() {
    constexpr int launches = 256;
    return 1e6 / launches * lab::least([&] {
             spin();
             return timer_.seconds([&] {
               for (int i = 0; i < launches; ++i)
                 FACESAT_LAUNCH(empty_kernel, dim3(1), dim3(32), timer_.stream());
             });
           });
  }

  static constexpr long long spin_clocks = 20'000'000;
  int device_;
  lab::StreamTimer timer_;
  Buffer<ChainEnd> end_;
};

}  // namespace

MicroFigures measure_micro(int device) {
  FACESAT_CUDA(cudaSetDevice(device));
  return Micro(device).measure();
}

}  // namespace facesat::gpu
