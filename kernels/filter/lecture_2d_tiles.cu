// Two-dimensional convolution in five of the ten ways of a lecture: with tiles in shared memory.
// lecture_2d.cu has the other five. The title of its slide follows each idea.
//
// A block of B x B threads computes B x B pixels, which need (B + 2 radius.x) x (B + 2 radius.y)
// pixels: the tile, which is the block's own pixels with a halo. B is 16, unless stated otherwise,
// and (B + 2 radius)^2 / B^2 pixels are read per pixel. Each thread loads its own pixel, and
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
// Launches: 1. Workspace: none.
// Source: lecture on convolution and integral images.
// Departs from it in: the slides do not show the shape of the regions; for idle_threads, the slide
//   has B + radius for the block's side where it must be B + 2 radius.
#include <algorithm>

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int halo_block = 16;  // threads, in each direction, of most of these algorithms

template <class Pass>
class HaloTile {
 public:
  // Of the block whose first pixel is at `first`.
  __device__ HaloTile(const Pass& pass, Pixel first)
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
  const Pixel first{static_cast<int>(blockIdx.x) * halo_block,
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
  const auto [column, row] = pixel_of_thread();
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

}  // namespace

const FilterAlgorithm lecture_2d_four_corners = limited(
    of_lecture("lecture_2d_four_corners", "Shared memory; four corner threads load the halo",
               reads_of_halo_tile, enqueue_halo<FourCorners>),
    why_no_halo_tile);
const FilterAlgorithm lecture_2d_four_regions =
    limited(of_lecture("lecture_2d_four_regions", "Shared memory; four regions load the halo",
                       reads_of_halo_tile, enqueue_halo<FourRegions>),
            why_no_halo_tile);
const FilterAlgorithm lecture_2d_eight_regions =
    limited(of_lecture("lecture_2d_eight_regions", "Shared memory; eight regions load the halo",
                       reads_of_halo_tile, enqueue_halo<EightRegions>),
            why_no_halo_tile);
const FilterAlgorithm lecture_2d_nine_blocks =
    limited(of_lecture("lecture_2d_nine_blocks", "Shared memory; each thread loads nine pixels",
                       reads_of_nine_blocks, enqueue_nine_blocks),
            why_no_nine_blocks);
const FilterAlgorithm lecture_2d_idle_threads =
    limited(of_lecture("lecture_2d_idle_threads", "Shared memory; a thread per pixel of the tile",
                       reads_of_idle_threads, enqueue_idle_threads),
            why_no_idle_threads);

}  // namespace facesat::gpu
