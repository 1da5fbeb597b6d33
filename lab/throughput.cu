// Every multiprocessor is filled with threads, each of which has several independent chains of
// operations, so that the latency of one is hidden by the others.
#include "kernels/device/warp.cuh"
#include "lab/throughput.hpp"

namespace facesat::gpu {
namespace {

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

}  // namespace

void measure_throughputs(lab::StreamTimer& timer, MicroFigures& figures) {
  const int count = figures.multiprocessors;
  figures.shared_bytes_per_s = sizeof(unsigned) * per_second<SharedRead>(timer, count);
  figures.shuffles_per_s = per_second<Shuffle>(timer, count);
  figures.adds_per_s = per_second<Addition<unsigned>>(timer, count);
  figures.ands_per_s = per_second<And>(timer, count);
  figures.f32_adds_per_s = per_second<Addition<float>>(timer, count);
  figures.f64_adds_per_s = per_second<Addition<double>>(timer, count);
}

}  // namespace facesat::gpu
