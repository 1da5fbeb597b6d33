// Two-dimensional convolution in the ten ways of a lecture: windows from global memory, or tiles in
// shared memory. The title of its slide follows each idea.
//
// With windows from global memory, in blocks of 32 x 8 threads, a thread per pixel:
//   naive: a thread reads its pixel's whole window, and decides for each of its places whether it
//     lies within the picture. One read for each weight; neighbours read the same pixels, which
//     only caches keep. "2D Convolution", the exercise's first part.
//   constant_mask: all threads of a warp need the same weight at the same time, which constant
//     memory delivers from a cache of its own. Masks of at most 4096 weights. "2D convolution:
//     trick".
//   pitched: a copy first, whose rows start on boundaries of 512 bytes, as cudaMallocPitch makes
//     them, so that a warp's reads are whole lines of memory, whatever the width. One read more.
//     Appendix "Memory pitch and 2D layouts".
//   padded: a first kernel writes the picture and as much of its border as windows reach, so that
//     the second one needs no conditions. One read more for each element of the padded picture.
//     "Run a first kernel which PAD the matrix".
//   valid: only the pixels whose window lies within the picture, without borders and conditions. Of
//     N x N pixels, N^2 - 4 R (N - R) are left with radius R. "Compute ONLY the central elements".
// With tiles in shared memory: a block of B x B threads computes B x B pixels, which need (B + 2
// radius.x) x (B + 2 radius.y) pixels: the tile, which is the block's own pixels with a halo. B is
// 16, unless stated otherwise, and (B + 2 radius)^2 / B^2 pixels are read per pixel. Each thread
// loads its own pixel, and
//   four_corners: the four threads in the block's corners also load the quarter of the halo that
//     lies around their corner. Few conditions, but all others wait for them. "4 corner threads do
//     a lot of work".
//   four_regions: each quarter of the block, 8 x 8 threads, loads one side of the halo, those above
//     and below with the corners. "Main block is divided in 4".
//   eight_regions: two rows of four regions of 4 x 8 threads; the outer ones load the sides of the
//     halo, the central ones its corners. "Main block is divided in 8".
//   nine_blocks: each thread loads nine pixels: the block's own and the eight blocks of as many
//     pixels around it, whatever the radius. More is loaded than needed, but without conditions,
//     and all threads do the same. B is 32 for radii above 16. 9 reads. "Each thread fill 9
//     elements".
//   idle_threads: the block is as large as its tile, 32 x 32: each thread loads one pixel, then
//     those around the edge are idle while the others compute (32 - 2 radius.x) x (32 - 2 radius.y)
//     pixels. The conditions are simple. 32^2 / (32 - 2 radius)^2 reads. "Change the grid".
// Launches: 1; 2 for padded; a copy and a kernel for pitched; none for valid if no window lies
//   within the picture.
// Workspace: the padded picture, the copy in pitched memory; none for the others.
// Source: lecture on convolution and integral images.
// Departs from it in: the mask in constant memory is a parameter of the kernel, which lies there,
//   instead of a __constant__ variable, so that calls in two streams do not overwrite each other's
//   mask; results of valid stay at their pixels' places, so that they can be compared with those of
//   the other algorithms, and elements around them are not written; the slides do not show the
//   shape of the regions; for idle_threads, the slide has B + radius for the block's side where it
//   must be B + 2 radius.
#include <algorithm>
#include <cstring>

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int naive_width = 32, naive_height = 8;  // threads of a block

// The sum for pixel (x, y). `weight(i)` is weight i of the mask, row by row.
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved(const Pass& pass, int x, int y,
                                                        Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      sum += weight(j * columns + i) *
             value_of<Pass>(pass.at(x + pass.radius.x - i, y + pass.radius.y - j));
  return sum;
}

// The same where the whole window lies within the picture. The loops count upwards: with an index
// that runs from radius to -radius, nvcc 13.0 sums up the wrong pixels for some radii (-O3, sm_90).
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved_inside(const Pass& pass, int x, int y,
                                                               Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j) {
    const auto* const last =
        pass.input + (y + pass.radius.y - j) * pass.input_pitch + x + pass.radius.x;
    for (int i = 0; i < columns; ++i) sum += weight(j * columns + i) * value_of<Pass>(last[-i]);
  }
  return sum;
}

// ---- naive ----

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height) naive_kernel(Pass pass) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

template <class Pass>
void launch_naive(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(naive_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                 dim3(naive_width, naive_height), stream, pass);
}

void enqueue_naive(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&](const auto& pass) { launch_naive(pass, stream); });
}

// ---- constant_mask ----

// Parameters have 4 KB in all on GPUs before Volta and with CUDA before 12.1, then 32 KB.
template <class Weight>
struct ConstantMask {
  static constexpr int most_weights = 4096;
  Weight weights[most_weights];
};

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height)
    constant_mask_kernel(Pass pass, FACESAT_PARAMETER(ConstantMask<typename Pass::Sum>) mask) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return mask.weights[i]; }));
}

std::string why_not_constant(const FilterTask& task) {
  return task.mask.radius.area() > ConstantMask<float>::most_weights ? "at most 4096 weights" : "";
}

void enqueue_constant_mask(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    ConstantMask<typename Pass::Sum> mask;
    std::memcpy(mask.weights, task.mask.host_weights,
                static_cast<std::size_t>(task.mask.radius.area()) * sizeof(mask.weights[0]));
    FACESAT_LAUNCH(constant_mask_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, mask);
  });
}

// ---- pitched ----

// Enqueues a copy within device memory, from rows of one pitch to rows of another; pitches and
// `row_bytes` are in bytes. Throws CudaError.
void enqueue_copy_of_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t row_bytes, int rows, StreamHandle stream) {
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  for (int y = 0; y < rows; ++y)
    std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(y) * to_pitch,
                static_cast<const std::byte*>(from) + static_cast<std::size_t>(y) * from_pitch,
                row_bytes);
#else
  FACESAT_CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes,
                                 static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
#endif
}

constexpr std::size_t pitch_line = 512;

std::size_t pitch_bytes(const FilterTask& task) {
  const std::size_t row =
      static_cast<std::size_t>(task.size.width) * info_of(task.type).input_bytes;
  return (row + pitch_line - 1) / pitch_line * pitch_line;
}

std::size_t pitched_bytes(const FilterTask& task) {
  return pitch_bytes(task) * static_cast<std::size_t>(task.size.height);
}

double reads_of_pitched(const FilterTask& task) {
  return 1 + reads_of_window(task);
}

void enqueue_pitched(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(Pass pass) {
    constexpr std::size_t element = sizeof(typename Pass::In);
    enqueue_copy_of_rows(workspace, pitch_bytes(task), pass.input,
                         static_cast<std::size_t>(pass.input_pitch) * element,
                         static_cast<std::size_t>(pass.size.width) * element, pass.size.height,
                         stream);
    pass.input = static_cast<const typename Pass::In*>(workspace);
    pass.input_pitch = static_cast<std::ptrdiff_t>(pitch_bytes(task) / element);
    launch_naive(pass, stream);
  });
}

// ---- padded ----

Size padded(const FilterTask& task) {
  return {task.size.width + 2 * task.mask.radius.x, task.size.height + 2 * task.mask.radius.y};
}

std::size_t padded_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(padded(task).area()) * info_of(task.type).input_bytes;
}

double reads_of_padded(const FilterTask& task) {
  return static_cast<double>(padded(task).area()) / static_cast<double>(task.size.area()) +
         reads_of_window(task);
}

template <class Pass>
__global__ void pad_kernel(Pass pass, typename Pass::In* to, Size padded) {
  const auto [x, y] = place_of_thread();
  if (x >= padded.width || y >= padded.height) return;
  to[static_cast<std::ptrdiff_t>(y) * padded.width + x] =
      pass.at(x - pass.radius.x, y - pass.radius.y);
}

template <class Pass>
__global__ void padded_kernel(Pass pass) {
  const auto [x, y] = place_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved_inside(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

void enqueue_padded(const FilterTask& task, void* workspace, StreamHandle stream) {
  const dim3 block(naive_width, naive_height);
  with_pass(task, [&]<class Pass>(Pass pass) {
    const Size size = padded(task);
    auto* const copy = static_cast<typename Pass::In*>(workspace);
    FACESAT_LAUNCH(pad_kernel<Pass>, grid_of(size, naive_width, naive_height), block, stream, pass,
                   copy, size);
    pass.input_pitch = size.width;
    pass.input = copy + pass.radius.y * pass.input_pitch + pass.radius.x;
    FACESAT_LAUNCH(padded_kernel<Pass>, grid_of(pass.size, naive_width, naive_height), block,
                   stream, pass);
  });
}

// ---- valid ----

template <class Pass>
__global__ void valid_kernel(Pass pass, Size valid) {
  const auto [x, y] = place_of_thread();
  if (x >= valid.width || y >= valid.height) return;
  const int column = x + pass.radius.x, row = y + pass.radius.y;
  pass.store(column, row,
             convolved_inside(pass, column, row, [&](int i) { return pass.weights[i]; }));
}

void enqueue_valid(const FilterTask& task, void*, StreamHandle stream) {
  const Size valid{task.size.width - 2 * task.mask.radius.x,
                   task.size.height - 2 * task.mask.radius.y};
  if (valid.width < 1 || valid.height < 1) return;
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(valid_kernel<Pass>, grid_of(valid, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, valid);
  });
}

// ---- tiles in shared memory ----

constexpr int halo_block = 16;  // threads, in each direction, of most of these algorithms

template <class Pass>
class HaloTile {
 public:
  // Of the block whose first pixel is at `first`.
  __device__ HaloTile(const Pass& pass, Place first)
      : pass_(pass),
        left_(first.x - pass.radius.x),
        top_(first.y - pass.radius.y),
        width_(halo_block + 2 * pass.radius.x) {}

  // Loads element (i, j) of the tile.
  __device__ __forceinline__ void load(int i, int j) {
    pixels_[j * width_ + i] = pass_.at(left_ + i, top_ + j);
  }
  // Loads the part of the tile of which (i, j) is the first element.
  __device__ __forceinline__ void load_part(int i, int j, int width, int height) {
    for (int v = 0; v < height; ++v)
      for (int u = 0; u < width; ++u) load(i + u, j + v);
  }
  // The same, by `threads` threads together, of which this one has the given number.
  __device__ __forceinline__ void load_part_together(int i, int j, int width, int height,
                                                     int thread, int threads) {
    for (int k = thread; k < width * height; k += threads) load(i + k % width, j + k / width);
  }

 private:
  const Pass& pass_;
  DynamicShared<typename Pass::In> pixels_;
  int left_, top_, width_;
};

// The convolution of the pixel whose window begins at element (i, j) of a tile of `width` columns.
template <class Pass>
__device__ __forceinline__ typename Pass::Sum convolved_in_tile(const Pass& pass, int i, int j,
                                                                int width) {
  const DynamicShared<typename Pass::In> pixels;
  typename Pass::Sum sum{};
  int next = 0;
  for (int v = 2 * pass.radius.y; v >= 0; --v)
    for (int u = 2 * pass.radius.x; u >= 0; --u)
      sum += pass.weights[next++] * value_of<Pass>(pixels[(j + v) * width + i + u]);
  return sum;
}

std::size_t halo_tile_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(halo_block + 2 * task.mask.radius.x) *
         static_cast<std::size_t>(halo_block + 2 * task.mask.radius.y) *
         info_of(task.type).input_bytes;
}

std::string why_no_halo_tile(const FilterTask& task) {
  return halo_tile_bytes(task) > most_shared_bytes ? "the tile exceeds shared memory" : "";
}

// Elements of the tile per pixel of the block.
double reads_of_halo_tile(const FilterTask& task) {
  return static_cast<double>(halo_tile_bytes(task) / info_of(task.type).input_bytes) /
         (halo_block * halo_block);
}

// Loader::load(tile, x, y, radius) loads the tile, called by each thread (x, y) of the block.
template <class Loader, class Pass>
__global__ void __launch_bounds__(halo_block* halo_block) halo_kernel(Pass pass) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const Place first{static_cast<int>(blockIdx.x) * halo_block,
                    static_cast<int>(blockIdx.y) * halo_block};
  HaloTile<Pass> tile(pass, first);
  tile.load(pass.radius.x + x, pass.radius.y + y);  // the block's own pixels
  Loader::load(tile, x, y, pass.radius);
  __syncthreads();
  if (pass.has(first.x + x, first.y + y))
    pass.store(first.x + x, first.y + y,
               convolved_in_tile(pass, x, y, halo_block + 2 * pass.radius.x));
}

template <class Loader>
void enqueue_halo(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH_SHARED((halo_kernel<Loader, Pass>), grid_of(pass.size, halo_block, halo_block),
                          dim3(halo_block, halo_block), halo_tile_bytes(task), stream, pass);
  });
}

// ---- four_corners, four_regions, eight_regions ----

struct FourCorners {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int last = halo_block - 1, half = halo_block / 2;
    if ((x != 0 && x != last) || (y != 0 && y != last)) return;
    // The quarter is a corner of radius.x x radius.y, and half a side above or below and beside it.
    const bool right = x == last, below = y == last;
    const int column = right ? radius.x + halo_block : 0, row = below ? radius.y + halo_block : 0;
    tile.load_part(column, row, radius.x, radius.y);
    tile.load_part(radius.x + (right ? half : 0), row, half, radius.y);
    tile.load_part(column, radius.y + (below ? half : 0), radius.x, half);
  }
};

struct FourRegions {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int half = halo_block / 2, threads = half * half;
    const int thread = y % half * half + x % half, region = y / half * 2 + x / half;
    const int below = radius.y + halo_block, right = radius.x + halo_block;
    if (region < 2)
      tile.load_part_together(0, region == 0 ? 0 : below, right + radius.x, radius.y, thread,
                              threads);
    else
      tile.load_part_together(region == 2 ? 0 : right, radius.y, radius.x, halo_block, thread,
                              threads);
  }
};

struct EightRegions {
  template <class Tile>
  __device__ static void load(Tile& tile, int x, int y, Radius radius) {
    constexpr int width = halo_block / 4, height = halo_block / 2, threads = width * height;
    const int thread = y % height * width + x % width, column = x / width, row = y / height;
    const int right = radius.x + halo_block, below = radius.y + halo_block;
    if (column == 0)  // above and below
      tile.load_part_together(radius.x, row == 0 ? 0 : below, halo_block, radius.y, thread,
                              threads);
    else if (column == 3)  // left and right
      tile.load_part_together(row == 0 ? 0 : right, radius.y, radius.x, halo_block, thread,
                              threads);
    else
      tile.load_part_together(column == 1 ? 0 : right, row == 0 ? 0 : below, radius.x, radius.y,
                              thread, threads);
  }
};

// ---- nine_blocks ----

template <int block, class Pass>
__global__ void __launch_bounds__(block* block) nine_blocks_kernel(Pass pass) {
  const DynamicShared<typename Pass::In> pixels;
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const auto [column, row] = place_of_thread();
  for (int v = 0; v < 3; ++v)
    for (int u = 0; u < 3; ++u)
      pixels[(v * block + y) * (3 * block) + u * block + x] =
          pass.at(column + (u - 1) * block, row + (v - 1) * block);
  __syncthreads();
  if (pass.has(column, row))
    pass.store(
        column, row,
        convolved_in_tile(pass, block + x - pass.radius.x, block + y - pass.radius.y, 3 * block));
}

std::string why_no_nine_blocks(const FilterTask& task) {
  return std::max(task.mask.radius.x, task.mask.radius.y) > 32 ? "radii up to 32" : "";
}

double reads_of_nine_blocks(const FilterTask&) {
  return 9;
}

void enqueue_nine_blocks(const FilterTask& task, void*, StreamHandle stream) {
  const bool is_small = std::max(task.mask.radius.x, task.mask.radius.y) <= 16;
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    constexpr std::size_t element = sizeof(typename Pass::In);
    if (is_small)
      FACESAT_LAUNCH_SHARED((nine_blocks_kernel<16, Pass>), grid_of(pass.size, 16, 16),
                            dim3(16, 16), 48 * 48 * element, stream, pass);
    else
      FACESAT_LAUNCH_SHARED((nine_blocks_kernel<32, Pass>), grid_of(pass.size, 32, 32),
                            dim3(32, 32), 96 * 96 * element, stream, pass);
  });
}

// ---- idle_threads ----

constexpr int idle_block = 32;

Size computed_by_idle_block(Radius radius) {
  return {idle_block - 2 * radius.x, idle_block - 2 * radius.y};
}

template <class Pass>
__global__ void __launch_bounds__(idle_block* idle_block) idle_threads_kernel(Pass pass) {
  const DynamicShared<typename Pass::In> pixels;
  const auto [rx, ry] = pass.radius;
  const int i = static_cast<int>(threadIdx.x), j = static_cast<int>(threadIdx.y);
  const int width = idle_block - 2 * rx, height = idle_block - 2 * ry;
  const int x = static_cast<int>(blockIdx.x) * width + i - rx;
  const int y = static_cast<int>(blockIdx.y) * height + j - ry;
  pixels[j * idle_block + i] = pass.at(x, y);
  __syncthreads();
  if (i < rx || i >= rx + width || j < ry || j >= ry + height || !pass.has(x, y)) return;
  pass.store(x, y, convolved_in_tile(pass, i - rx, j - ry, idle_block));
}

std::string why_no_idle_threads(const FilterTask& task) {
  return std::max(task.mask.radius.x, task.mask.radius.y) > idle_block / 2 - 1
             ? "radii up to 15: a block has at most 1024 threads"
             : "";
}

double reads_of_idle_threads(const FilterTask& task) {
  return static_cast<double>(idle_block * idle_block) /
         static_cast<double>(computed_by_idle_block(task.mask.radius).area());
}

void enqueue_idle_threads(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const Size size = computed_by_idle_block(pass.radius);
    FACESAT_LAUNCH_SHARED(idle_threads_kernel<Pass>, grid_of(pass.size, size.width, size.height),
                          dim3(idle_block, idle_block),
                          idle_block * idle_block * sizeof(typename Pass::In), stream, pass);
  });
}

// ---- the table of algorithms ----

constexpr FilterAlgorithm algorithm(std::string_view id, std::string_view title,
                                    double (*reads)(const FilterTask&),
                                    void (*enqueue)(const FilterTask&, void*, StreamHandle)) {
  return {.id = id,
          .title = title,
          .source = "lecture",
          .reads = reads,
          .workspace_bytes = no_workspace,
          .enqueue = enqueue};
}

// An algorithm that does not take every task.
constexpr FilterAlgorithm limited(FilterAlgorithm algorithm,
                                  std::string (*why_not)(const FilterTask&)) {
  algorithm.why_not = why_not;
  return algorithm;
}

// Two launches, the first one of a copy.
constexpr FilterAlgorithm of_a_copy(FilterAlgorithm algorithm,
                                    std::size_t (*workspace_bytes)(const FilterTask&)) {
  algorithm.launches = 2;
  algorithm.workspace_bytes = workspace_bytes;
  return algorithm;
}

constexpr FilterAlgorithm valid_part(FilterAlgorithm algorithm) {
  algorithm.is_valid_part = true;
  return algorithm;
}

}  // namespace

const FilterAlgorithm lecture_2d_naive = algorithm(
    "lecture_2d_naive", "A thread per pixel reads its window", reads_of_window, enqueue_naive);
const FilterAlgorithm lecture_2d_constant_mask =
    limited(algorithm("lecture_2d_constant_mask", "The mask in constant memory", reads_of_window,
                      enqueue_constant_mask),
            why_not_constant);
const FilterAlgorithm lecture_2d_pitched =
    of_a_copy(algorithm("lecture_2d_pitched", "A copy in pitched memory first", reads_of_pitched,
                        enqueue_pitched),
              pitched_bytes);
const FilterAlgorithm lecture_2d_padded =
    of_a_copy(algorithm("lecture_2d_padded", "A kernel that pads the picture first",
                        reads_of_padded, enqueue_padded),
              padded_bytes);
const FilterAlgorithm lecture_2d_valid =
    valid_part(algorithm("lecture_2d_valid", "Only pixels whose window lies within the picture",
                         reads_of_window, enqueue_valid));
const FilterAlgorithm lecture_2d_four_corners =
    limited(algorithm("lecture_2d_four_corners", "Shared memory; four corner threads load the halo",
                      reads_of_halo_tile, enqueue_halo<FourCorners>),
            why_no_halo_tile);
const FilterAlgorithm lecture_2d_four_regions =
    limited(algorithm("lecture_2d_four_regions", "Shared memory; four regions load the halo",
                      reads_of_halo_tile, enqueue_halo<FourRegions>),
            why_no_halo_tile);
const FilterAlgorithm lecture_2d_eight_regions =
    limited(algorithm("lecture_2d_eight_regions", "Shared memory; eight regions load the halo",
                      reads_of_halo_tile, enqueue_halo<EightRegions>),
            why_no_halo_tile);
const FilterAlgorithm lecture_2d_nine_blocks =
    limited(algorithm("lecture_2d_nine_blocks", "Shared memory; each thread loads nine pixels",
                      reads_of_nine_blocks, enqueue_nine_blocks),
            why_no_nine_blocks);
const FilterAlgorithm lecture_2d_idle_threads =
    limited(algorithm("lecture_2d_idle_threads", "Shared memory; a thread per pixel of the tile",
                      reads_of_idle_threads, enqueue_idle_threads),
            why_no_idle_threads);

}  // namespace facesat::gpu
