// Seven of the eight algorithms of Dieguez et al.: a cascade of three kernels (the paper's rd, p
// and p2; see cascade.cuh), which differ in how a block scans a tile. The eighth is in
// dieguez_2014_lf_shuffle4_cdp.cu.
//
// Ideas and tiles, where b, r and the vector's length are parameters:
//   KS-p (section II-B, figure 4; P. Kogge and H. Stone 1973): in step d of log2 N, element i of a
//     tile takes in element i - d. Elements of a thread are as many apart as the block has threads,
//     so that accesses are coalesced and have no bank conflicts. Tiles of b elements per thread in
//     shared memory.
//   KS-shuffle (IV-D): each warp scans one element per lane with __shfl_up, like KS-p; the warps'
//     totals are scanned the same way by one warp. Tiles of one element per thread, in registers;
//     one element per warp in shared memory.
//   DA (II-B): a thread scans four adjacent elements in registers, a first step of radix 4, on
//     elements that were loaded as one vector; then KS-p of the threads' totals, one element per
//     thread in shared memory.
//   HJ-scan (III-A, figure 7; R. Hockney and C. Jesshope, "Parallel Computers 2", 1988), the
//     elimination phase of their cyclic reduction as a scan: in step d, butterfly j has the element
//     c = (j / d) * d + j as its centre. c takes in the element d before it, and the element d
//     after c takes in what c was before the step. All threads are busy in every step. Tiles of 2b
//     elements per thread in shared memory.
//   LF-scan (III-B, figure 9; R. Ladner and M. Fischer 1980): a step of radix r joins r adjacent
//     runs of d elements, each of which is scanned already: the elements of a run take in the last
//     elements of the runs before it. With r = 2, the elements that are read are not written in the
//     same step, so that a step needs one barrier. Tiles of r * b elements per thread in shared
//     memory; a butterfly is one element of each of the r runs.
//   LF-shuffle (IV-D, IV-E): each warp scans one element per lane with __shfl, in whose step d the
//     upper half of each group of 2d lanes takes in the last lane of the lower half; the rest as
//     KS-shuffle. Tiles of one element per thread, or of a vector of two.
//   LF-shuffle4 (IV-E; there the fastest on a Tesla K20): LF-shuffle with vectors of four. Fewer,
//     larger accesses to memory, and a quarter of the shuffles.
// rd (II-B): each iteration takes b elements per thread, as many apart as the block has threads, or
//   a vector. As in the paper, the number of threads is a template's parameter, so that all loops
//   over it are unrolled; only for sums, because other operators would need as many kernels again.
// Reads and writes per element: 2 / 1.
// Launches: 3 (2 with mapped memory, and a function of the host).
// Workspace: one element per block.
// Source: Adrian P. Dieguez, Margarita Amor, Ramon Doallo: Efficient Scan Operator Methods on a
//   GPU, SBAC-PAD 2014.
// Departs from it in: the first elements of KS-p, which have no partner in a step, are left out by
//   a condition, where the paper pads the array so that every thread has b butterflies; HJ-scan has
//   a barrier between the reads and the writes of a step, which figure 7 leaves out: the centre of
//   one butterfly is read by the next one, too.
#include <new>

#include "kernels/device/platform.hpp"
#include "kernels/scan/dieguez_2014.cuh"
#include "kernels/scan/operators.hpp"

namespace facesat::gpu {
namespace {

using namespace dieguez_2014;

// ---- the scan of a few elements by the CPU, between two kernels of a stream ----

// Bytes at the begin of the workspace that enqueue_host_scan() uses.
constexpr std::size_t host_scan_bytes = 256;

// Enqueues a scan by the CPU, in order with the kernels of the stream. The task's arrays and the
// workspace are in page-locked memory; settings are ignored. Throws CudaError.
void enqueue_host_scan(const ScanTask& task, void* workspace, StreamHandle stream) {
  static_assert(sizeof(ScanTask) <= host_scan_bytes);
  const auto* const kept = new (workspace) ScanTask(task);
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  scan_reference(*kept);
#else
  const auto run = [](void* argument) { scan_reference(*static_cast<const ScanTask*>(argument)); };
  FACESAT_CUDA(cudaLaunchHostFunc(stream, run, const_cast<ScanTask*>(kept)));
#endif
}

// ---- the cascade of kernels ----

// What a kernel reads the input through (section IV-C), and where p runs (IV-A), independent of
// each other; in-place arrays (-IP) are a property of the task.
constexpr int read_only_cache = 1, mapped_memory = 2;
constexpr std::array variant_choices{0, 1, 2, 3};
constexpr ScanParameter variant_parameter{
    "variant",
    "1: input through the read-only cache, 2: totals scanned by the CPU in mapped memory, 3: both, "
    "0: neither",
    1, variant_choices};

bool is_mapped(const ScanSettings& settings) {
  return settings[2] & mapped_memory;
}
ScanCost cost(const ScanTask& task) {
  ScanCost cost = cascade::cost(task, cascade::launch_of(task.settings).blocks);
  if (is_mapped(task.settings)) cost.launches = 2;
  return cost;
}
std::size_t workspace_bytes(const ScanTask& task) {
  return host_scan_bytes + cascade::workspace_bytes(task);
}

// Calls launch(std::integral_constant<int, threads>()), where 0 stands for a number that is known
// at run time only. As in the paper, sums have kernels for each size of block, whose loops are
// unrolled; other operators share one.
template <class Pass, class Launch>
void with_block_size(int threads, Launch launch) {
  const auto with = [&]<int size>(std::integral_constant<int, size> known) {
    if (size == 0 || threads == size) launch(known);
  };
  if constexpr (!std::is_same_v<typename Pass::Op, Sum<typename Pass::T>>) {
    with(std::integral_constant<int, 0>());
  } else if constexpr (on_host) {  // where one of them is enough to test
    if (threads == 64)
      with(std::integral_constant<int, 64>());
    else
      with(std::integral_constant<int, 0>());
  } else {
    with(std::integral_constant<int, 64>());
    with(std::integral_constant<int, 128>());
    with(std::integral_constant<int, 256>());
    with(std::integral_constant<int, 512>());
  }
}
static_assert(cascade::thread_choices == std::array{64, 128, 256, 512});

// A Pattern has Tile<threads>, how p and p2 scan, and how a thread of rd takes `width` elements of
// each tile.
template <class Pattern>
void enqueue(const ScanTask& task, void* workspace, StreamHandle stream) {
  const cascade::Launch launch = cascade::launch_of(task.settings);
  with_pass(task, [&]<class Pass>(Pass pass) {
    using T = typename Pass::T;
    // Of an array that a kernel overwrites, it must not read anything through that cache.
    pass.is_read_only = (task.settings[2] & read_only_cache) && task.input != task.output;
    auto* const totals = reinterpret_cast<T*>(static_cast<std::byte*>(workspace) + host_scan_bytes);
    with_block_size<Pass>(launch.threads, [&]<int threads>(std::integral_constant<int, threads>) {
      using Tile = typename Pattern::template Tile<threads>;
      const int chunk = cascade::chunk_of(pass.n, launch.blocks, Tile::elements(launch.threads));
      cascade::enqueue_reduce<Pattern::width, Pattern::share, threads>(pass, launch, chunk, totals,
                                                                       stream);
      if (is_mapped(task.settings))
        enqueue_host_scan({task.type, task.op, false, launch.blocks, totals, totals}, workspace,
                          stream);
      else
        cascade::enqueue_scan_totals<Tile>(pass, launch, totals, stream);
      cascade::enqueue_scan<Tile>(pass, launch, chunk, totals, stream);
    });
  });
}

// The same for Pattern<1>, Pattern<2> or Pattern<4>, by the paper's b.
constexpr std::array butterfly_choices{1, 2, 4};
template <template <int> class Pattern>
void enqueue_butterflies(int b, const ScanTask& task, void* workspace, StreamHandle stream) {
  switch (b) {
    case 1:
      return enqueue<Pattern<1>>(task, workspace, stream);
    case 2:
      return enqueue<Pattern<2>>(task, workspace, stream);
    default:
      return enqueue<Pattern<4>>(task, workspace, stream);
  }
}

// ---- tiles in shared memory ----

// Stores the results of a tile of `count` elements per thread, of which x[i] is the inclusive scan
// within the tile. Returns the combination up to its end. Ends with a barrier.
template <int count, int known_threads, class Pass>
__device__ __forceinline__ typename Pass::T store_tile(const Pass& pass, int begin,
                                                       typename Pass::T before,
                                                       DynamicShared<typename Pass::T> x) {
  using T = typename Pass::T;
  const int threads = threads_of_block<known_threads>();
  FACESAT_UNROLL
  for (int k = 0; k < count; ++k) {
    const int i = k * threads + static_cast<int>(threadIdx.x);
    if (begin + i >= pass.n) continue;
    if (pass.is_inclusive)
      pass.output[begin + i] = pass.op(before, x[i]);
    else
      pass.output[begin + i] = i > 0 ? pass.op(before, x[i - 1]) : before;
  }
  const T end = pass.op(before, x[count * threads - 1]);
  __syncthreads();  // the next tile overwrites x
  return end;
}

// Loads a tile of `count` elements per thread. Ends with a barrier.
template <int count, int known_threads, class Pass>
__device__ __forceinline__ void load_tile(const Pass& pass, int begin,
                                          DynamicShared<typename Pass::T> x) {
  const int threads = threads_of_block<known_threads>();
  FACESAT_UNROLL
  for (int k = 0; k < count; ++k) {
    const int i = k * threads + static_cast<int>(threadIdx.x);
    x[i] = pass.load(begin + i);
  }
  __syncthreads();
}

// Kogge and Stone's scan of `count` elements per thread in shared memory, in place: in step d,
// element i takes in element i - d. All reads of a step come before its writes. Ends with a
// barrier.
template <int count, int known_threads, class T, class Op>
__device__ __forceinline__ void scan_kogge_stone(const Op& op, DynamicShared<T> x) {
  const int threads = threads_of_block<known_threads>(), size = count * threads;
  FACESAT_UNROLL
  for (int d = 1; d < size; d *= 2) {
    T sums[count];
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) {
      const int i = k * threads + static_cast<int>(threadIdx.x);
      const T own = x[i];
      sums[k] = i >= d ? op(x[i - d], own) : own;
    }
    __syncthreads();
    FACESAT_UNROLL
    for (int k = 0; k < count; ++k) x[k * threads + static_cast<int>(threadIdx.x)] = sums[k];
    __syncthreads();
  }
}

// ---- patterns ----

template <int b>
struct KoggeStone {
  static constexpr int width = b;
  static constexpr cascade::Share share = cascade::Share::apart;

  template <int known>
  struct Tile {
    static constexpr int known_threads = known;
    static constexpr int elements(int threads) { return b * threads; }
    static constexpr int shared_elements(int threads) { return b * threads; }

    template <class Pass>
    __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
      DynamicShared<typename Pass::T> x;
      load_tile<b, known_threads>(pass, begin, x);
      scan_kogge_stone<b, known_threads>(pass.op, x);
      return store_tile<b, known_threads>(pass, begin, before, x);
    }
  };
};

struct Vectors {
  static constexpr int width = 4;
  static constexpr cascade::Share share = cascade::Share::adjacent;

  template <int known>
  struct Tile {
    static constexpr int known_threads = known;
    static constexpr int elements(int threads) { return 4 * threads; }
    static constexpr int shared_elements(int threads) { return threads; }

    template <class Pass>
    __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
      using T = typename Pass::T;
      DynamicShared<T> totals;
      const int thread = static_cast<int>(threadIdx.x), i = begin + 4 * thread;
      auto own = pass.template load_several<4>(i);
      FACESAT_UNROLL
      for (int k = 1; k < 4; ++k) own.v[k] = pass.op(own.v[k - 1], own.v[k]);
      totals[thread] = own.v[3];
      __syncthreads();
      scan_kogge_stone<1, known_threads>(pass.op, totals);
      const T before_thread = thread > 0 ? pass.op(before, totals[thread - 1]) : before;
      pass.template store_several<4>(i, before_thread, own);
      const T end = pass.op(before, totals[threads_of_block<known_threads>() - 1]);
      __syncthreads();  // the next tile overwrites the totals
      return end;
    }
  };
};

template <int b>
struct HockneyJesshope {
  static constexpr int width = b;
  static constexpr cascade::Share share = cascade::Share::apart;

  template <int known>
  struct Tile {
    static constexpr int known_threads = known;
    static constexpr int elements(int threads) { return 2 * b * threads; }
    static constexpr int shared_elements(int threads) { return 2 * b * threads; }

    template <class Pass>
    __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
      using T = typename Pass::T;
      const int threads = threads_of_block<known_threads>();
      DynamicShared<T> x;
      load_tile<2 * b, known_threads>(pass, begin, x);
      FACESAT_UNROLL
      for (int d = 1; d < 2 * b * threads; d *= 2) {
        T centre[b], right[b];
        FACESAT_UNROLL
        for (int k = 0; k < b; ++k) {
          const int j = k * threads + static_cast<int>(threadIdx.x), c = (j & -d) + j;
          const T own = x[c];
          centre[k] = c >= d ? pass.op(x[c - d], own) : own;
          right[k] = pass.op(own, x[c + d]);
        }
        __syncthreads();
        FACESAT_UNROLL
        for (int k = 0; k < b; ++k) {
          const int j = k * threads + static_cast<int>(threadIdx.x), c = (j & -d) + j;
          x[c] = centre[k];
          x[c + d] = right[k];
        }
        __syncthreads();
      }
      return store_tile<2 * b, known_threads>(pass, begin, before, x);
    }
  };
};

template <int radix, int b>
struct LadnerFischer {
  static constexpr int width = b;
  static constexpr cascade::Share share = cascade::Share::apart;
  static constexpr int per_thread = radix * b;

  template <int known>
  struct Tile {
    static constexpr int known_threads = known;
    static constexpr int elements(int threads) { return per_thread * threads; }
    static constexpr int shared_elements(int threads) { return per_thread * threads; }

    // Joins runs of d elements into runs of r * d. Ends with a barrier.
    template <int r, class T, class Op>
    __device__ __forceinline__ static void join(const Op& op, DynamicShared<T> x, int d) {
      constexpr int butterflies = per_thread / r;  // per thread
      const int threads = threads_of_block<known_threads>();
      T joined[butterflies * (r - 1)];
      const auto first_of = [&](int k) {  // the element of the first run
        const int j = k * threads + static_cast<int>(threadIdx.x);
        return (j & -d) * r + (j & (d - 1));
      };
      FACESAT_UNROLL
      for (int k = 0; k < butterflies; ++k) {
        const int first = first_of(k), last = first | (d - 1);  // last: of the first run
        T runs = x[last];
        FACESAT_UNROLL
        for (int q = 1; q < r; ++q) {
          joined[k * (r - 1) + q - 1] = op(runs, x[first + q * d]);
          if (q + 1 < r) runs = op(runs, x[last + q * d]);
        }
      }
      if constexpr (r > 2) __syncthreads();
      FACESAT_UNROLL
      for (int k = 0; k < butterflies; ++k) FACESAT_UNROLL
      for (int q = 1; q < r; ++q) x[first_of(k) + q * d] = joined[k * (r - 1) + q - 1];
      __syncthreads();
    }

    template <class Pass>
    __device__ static typename Pass::T scan(const Pass& pass, int begin, typename Pass::T before) {
      DynamicShared<typename Pass::T> x;
      const int size = elements(threads_of_block<known_threads>());
      load_tile<per_thread, known_threads>(pass, begin, x);
      int d = 1;
      FACESAT_UNROLL
      for (; d * radix <= size; d *= radix) join<radix>(pass.op, x, d);
      FACESAT_UNROLL
      for (; d < size; d *= 2) join<2>(pass.op, x, d);  // if the size is no power of the radix
      return store_tile<per_thread, known_threads>(pass, begin, before, x);
    }
  };
};

template <class Lanes, int vector>
struct Shuffles {
  static constexpr int width = vector;
  static constexpr cascade::Share share = cascade::Share::adjacent;
  template <int known_threads>
  using Tile = cascade::ShuffleTile<Lanes, vector, known_threads>;
};

// ---- how the parameters of LF-scan and LF-shuffle choose a pattern ----

template <int b>
using LadnerFischer2 = LadnerFischer<2, b>;
template <int b>
using LadnerFischer4 = LadnerFischer<4, b>;
template <int b>
using LadnerFischer8 = LadnerFischer<8, b>;

void enqueue_lf_scan(const ScanTask& task, void* workspace, StreamHandle stream) {
  const int b = task.settings[4];
  switch (task.settings[3]) {
    case 2:
      return enqueue_butterflies<LadnerFischer2>(b, task, workspace, stream);
    case 4:
      return enqueue_butterflies<LadnerFischer4>(b, task, workspace, stream);
    default:
      return enqueue_butterflies<LadnerFischer8>(b, task, workspace, stream);
  }
}

template <template <int> class Pattern>
void enqueue_pattern(const ScanTask& task, void* workspace, StreamHandle stream) {
  enqueue_butterflies<Pattern>(task.settings[3], task, workspace, stream);
}

template <int vector>
using LadnerFischerShuffles = Shuffles<LadnerFischerLanes, vector>;

void enqueue_lf_shuffle(const ScanTask& task, void* workspace, StreamHandle stream) {
  if (task.settings[3] == 1)
    enqueue<LadnerFischerShuffles<1>>(task, workspace, stream);
  else
    enqueue<LadnerFischerShuffles<2>>(task, workspace, stream);
}

// ---- the table of algorithms ----

// An algorithm of the paper: what all of them share, and its own.
constexpr ScanAlgorithm algorithm(std::string_view id, std::string_view title,
                                  std::span<const ScanParameter> parameters,
                                  void (*enqueue)(const ScanTask&, void*, StreamHandle)) {
  return {.id = id,
          .title = title,
          .source = paper,
          .year = 2014,
          .parameters = parameters,
          .cost = cost,
          .workspace_bytes = workspace_bytes,
          .needs_mapped_memory = is_mapped,
          .enqueue = enqueue};
}

constexpr std::array radix_choices{2, 4, 8};
constexpr std::array vector_choices{1, 2};
constexpr std::array common_parameters{threads_parameter, blocks_parameter, variant_parameter};
constexpr std::array parameters_of_ks_p{
    threads_parameter, blocks_parameter, variant_parameter,
    ScanParameter{"butterflies", "elements per thread (b)", 2, butterfly_choices}};
constexpr std::array parameters_of_hj_scan{
    threads_parameter, blocks_parameter, variant_parameter,
    ScanParameter{"butterflies", "pairs of elements per thread (b)", 2, butterfly_choices}};
constexpr std::array parameters_of_lf_scan{
    threads_parameter, blocks_parameter, variant_parameter,
    ScanParameter{"radix", "runs that a step joins (r)", 2, radix_choices},
    ScanParameter{"butterflies", "groups of r elements per thread (b)", 2, butterfly_choices}};
constexpr std::array parameters_of_lf_shuffle{
    threads_parameter, blocks_parameter, variant_parameter,
    ScanParameter{"vector", "adjacent elements per thread", 1, vector_choices}};

}  // namespace

const ScanAlgorithm dieguez_2014_ks_p =
    algorithm("dieguez_2014_ks_p", "KS-p: Kogge-Stone in shared memory, a cascade of three kernels",
              parameters_of_ks_p, enqueue_pattern<KoggeStone>);
const ScanAlgorithm dieguez_2014_ks_shuffle =
    algorithm("dieguez_2014_ks_shuffle", "KS-shuffle: Kogge-Stone by shuffles", common_parameters,
              enqueue<Shuffles<KoggeStoneLanes, 1>>);
const ScanAlgorithm dieguez_2014_da = algorithm(
    "dieguez_2014_da", "DA: vectors of four in registers, then Kogge-Stone in shared memory",
    common_parameters, enqueue<Vectors>);
const ScanAlgorithm dieguez_2014_hj_scan = algorithm(
    "dieguez_2014_hj_scan", "HJ-scan: the elimination of cyclic reduction in shared memory",
    parameters_of_hj_scan, enqueue_pattern<HockneyJesshope>);
const ScanAlgorithm dieguez_2014_lf_scan = algorithm(
    "dieguez_2014_lf_scan", "LF-scan: Ladner-Fischer in shared memory, of radix 2, 4 or 8",
    parameters_of_lf_scan, enqueue_lf_scan);
const ScanAlgorithm dieguez_2014_lf_shuffle =
    algorithm("dieguez_2014_lf_shuffle", "LF-shuffle: Ladner-Fischer by shuffles",
              parameters_of_lf_shuffle, enqueue_lf_shuffle);
const ScanAlgorithm dieguez_2014_lf_shuffle4 = algorithm(
    "dieguez_2014_lf_shuffle4", "LF-shuffle4: vectors of four, then Ladner-Fischer by shuffles",
    common_parameters, enqueue<LadnerFischerShuffles<4>>);

}  // namespace facesat::gpu
