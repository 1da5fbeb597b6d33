// The plain two passes: scan every row, then every column.
//
// Idea: a warp scans a row, 128 pixels at a time with a carry, and writes both tables; then blocks
// scan strips of 32 columns in place, 128 rows at a time. Reads and writes an element: 1 byte read,
// each table written, read and written again (2R2W). Launches: 2. Workspace: none. Source: the
// definition; the method every paper compares with.
#include "kernels/sat/algorithm.hpp"
#include "kernels/sat/tile.cuh"

namespace facesat::gpu {
namespace {

constexpr int rows_a_block = 4;  // one warp each
constexpr int strip_width = 32, strip_warps = 32, rows_a_thread = 4;

__global__ void scan_rows_kernel(const std::uint8_t* __restrict__ picture, int picture_pitch,
                                 Size size, std::uint32_t* __restrict__ sum,
                                 std::uint32_t* __restrict__ squared_sum, int pitch,
                                 int squared_pitch) {
  const int y = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y);
  if (y >= size.height) return;  // whole warps
  const std::uint8_t* row = picture + static_cast<std::ptrdiff_t>(y) * picture_pitch;
  std::uint32_t carry = 0, squares_carry = 0;
  for (int begin = 0; begin < size.width; begin += 128) {
    const int x = begin + 4 * static_cast<int>(threadIdx.x);
    const int left = size.width - x;
    Four v = unpack(left > 0 ? *reinterpret_cast<const std::uint32_t*>(row + x) : 0, left);
    Four q = squares(v);
    prefix(v);
    prefix(q);
    const std::uint32_t v_scan = warp_inclusive_scan(v.v[3]) + carry,
                        q_scan = warp_inclusive_scan(q.v[3]) + squares_carry;
    const std::uint32_t v_base = v_scan - v.v[3], q_base = q_scan - q.v[3];
    if (left > 0) {
      *reinterpret_cast<uint4*>(sum + static_cast<std::ptrdiff_t>(y) * pitch + x) =
          make_uint4(v_base + v.v[0], v_base + v.v[1], v_base + v.v[2], v_base + v.v[3]);
      *reinterpret_cast<uint4*>(squared_sum + static_cast<std::ptrdiff_t>(y) * squared_pitch + x) =
          make_uint4(q_base + q.v[0], q_base + q.v[1], q_base + q.v[2], q_base + q.v[3]);
    }
    carry = __shfl_sync(full_warp, v_scan, 31);
    squares_carry = __shfl_sync(full_warp, q_scan, 31);
  }
}

// blockIdx.y picks the table.
__global__ void scan_columns_kernel(std::uint32_t* __restrict__ sum,
                                    std::uint32_t* __restrict__ squared_sum, int sum_pitch,
                                    int squared_pitch, Size size) {
  __shared__ SharedArray<std::uint32_t, strip_warps * strip_width> totals;  // of each warp's rows
  std::uint32_t* table = blockIdx.y == 0 ? sum : squared_sum;
  const int pitch = blockIdx.y == 0 ? sum_pitch : squared_pitch;
  const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
  const int x = static_cast<int>(blockIdx.x) * strip_width + lane;
  std::uint32_t carry = 0;  // the table row above, once scanned
  for (int begin = 0; begin < size.height; begin += strip_warps * rows_a_thread) {
    const int first = begin + warp * rows_a_thread;
    std::uint32_t v[rows_a_thread];
    for (int i = 0; i < rows_a_thread; ++i) {
      const bool inside = x < size.width && first + i < size.height;
      v[i] = (inside ? table[static_cast<std::ptrdiff_t>(first + i) * pitch + x] : 0) +
             (i > 0 ? v[i - 1] : 0);
    }
    totals[warp * strip_width + lane] = v[rows_a_thread - 1];
    __syncthreads();
    std::uint32_t base = carry;
    for (int w = 0; w < strip_warps; ++w) {
      const std::uint32_t total = totals[w * strip_width + lane];
      if (w < warp) base += total;
      carry += total;
    }
    for (int i = 0; i < rows_a_thread; ++i)
      if (x < size.width && first + i < size.height)
        table[static_cast<std::ptrdiff_t>(first + i) * pitch + x] = base + v[i];
    __syncthreads();  // totals are read before the next rows write them
  }
}

std::size_t workspace_bytes(Size) {
  return 0;
}

void enqueue(const SatTask& t, void*, StreamHandle stream) {
  const auto [width, height] = t.picture.size;
  const int pitch = static_cast<int>(t.sum.pitch),
            squared_pitch = static_cast<int>(t.squared_sum.pitch);
  FACESAT_LAUNCH(scan_rows_kernel, dim3((height + rows_a_block - 1) / rows_a_block),
                 dim3(32, rows_a_block), stream, t.picture.data, static_cast<int>(t.picture.pitch),
                 t.picture.size, t.sum.data, t.squared_sum.data, pitch, squared_pitch);
  FACESAT_LAUNCH(scan_columns_kernel, dim3((width + strip_width - 1) / strip_width, 2),
                 dim3(strip_width, strip_warps), stream, t.sum.data, t.squared_sum.data, pitch,
                 squared_pitch, t.picture.size);
}

}  // namespace

const SatAlgorithm scan_rows_columns{
    .id = "scan_rows_columns",
    .title = "Scan rows, then columns (2R2W)",
    .paper = "the definition",
    .year = 0,
    .launches = 2,
    .reads = 2,
    .writes = 2,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
