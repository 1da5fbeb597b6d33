// Evaluates one group of consecutive later stages of a Haar cascade tile by tile, as products of
// bytes on tensor cores (compiled_products.hpp).
//
// A warpgroup (four warps) takes a tile, copies the pixels under its windows to shared memory, and
// multiplies 64 windows at a time with the features of the group, which stay in shared memory. The
// lanes load the rows of the first matrix, a window's pixels, from there into registers, so that
// the pixels that windows have in common are copied once. A tile's survivors replace its windows.
//
// The last stages (window_stages.cu) copy each window's pixels from the atlas instead, which costs
// nearly twice as much per window, but needs no tile: with few windows per tile, most of the 64
// rows of a product would be empty.
#include <algorithm>

#include "kernels/cascade/late_stages.hpp"
#include "kernels/cascade/window_sums.cuh"
#include "kernels/device/matrix.hpp"

namespace facesat::gpu {
namespace {

constexpr int most_warpgroups = 4;
constexpr int static_bytes = 1 << 10;    // of shared memory; Exchange needs less
constexpr int shared_limit = 227 << 10;  // the most that any device has

// Blocks of 8 columns in a slice: the larger number for groups of stages that need more than
// `few_columns` of them.
constexpr int many_columns = 12, few_columns = 6;
static_assert(spare_bundles >= many_columns, "a group's last slice may go beyond its end");

using Shared = DynamicShared<std::uint32_t>;

// What the threads of a warpgroup share besides pixels.
struct Exchange {
  SharedArray<unsigned, 2 * most_warpgroups> ticket;  // two that alternate
  SharedArray<unsigned, most_warpgroups> survivors;   // of the tile
};

// For windows of `side` x `side` squares of pixels.
template <bool by_warpgroup, int side, int column_groups, int tree_nodes>
class TileEvaluation {
 public:
  __device__ TileEvaluation(const TileTask& task, const Shared& shared, Exchange& exchange)
      : task_(task), shared_(shared), exchange_(exchange), sums_(shared) {}

  __device__ void run() {
    copy_features();
    // What takes long is begun early: the next tile is known, and its description is being loaded,
    // while a tile is evaluated.
    unsigned ticket = share_ticket(take_ticket()), next_ticket = take_ticket();
    TakenTile tile = tile_of(ticket);
    while (ticket < task_.tile_count) {
      ticket = share_ticket(next_ticket);
      next_ticket = take_ticket();
      const TakenTile next = tile_of(ticket);
      evaluate(tile);
      tile = next;
    }
    finish();
  }

 private:
  using Sums = WindowSums<column_groups, tree_nodes>;
  static constexpr int bundles = Sums::bundles;
  static constexpr WindowBytes bytes = window_bytes({4 * side, 4 * side});
  static constexpr BundleLayout layout{tree_nodes, bytes.steps};

  // ---- features

  __device__ int weights_word() const {
    return task_.shape.warpgroups * max(task_.pixels[0].bytes(), task_.pixels[1].bytes()) / 4;
  }
  __device__ int trees_word() const {
    return weights_word() + slices_ * bundles * layout.weight_bytes() / 4;
  }

  __device__ void copy_features() const {
    copy(weights_word(), task_.weights, layout.weight_bytes());
    copy(trees_word(), task_.trees, layout.tree_bytes());
    wait_for_copies();
    if constexpr (by_warpgroup) publish_matrices();
    __syncthreads();
  }
  __device__ void copy(int to, const uint4* from, int bundle_bytes) const {
    const int parts = slices_ * bundles * bundle_bytes / 16;
    for (int i = static_cast<int>(threadIdx.x); i < parts; i += static_cast<int>(blockDim.x))
      begin_copy(shared_, to + i * 4, from + i);
  }

  // ---- tiles

  // A barrier of the warpgroup.
  __device__ void join() const { part_barrier(warpgroup_threads, 1 + warpgroup_); }

  // The first thread of a warpgroup takes the ticket; others get 0.
  __device__ unsigned take_ticket() const {
    return thread_ == 0 ? atomicAdd(&task_.tickets->next, 1u) : 0;
  }
  __device__ unsigned share_ticket(unsigned ticket) {
    const int slot = warpgroup_ * 2 + turn_;
    turn_ = 1 - turn_;
    if (thread_ == 0) exchange_.ticket[slot] = ticket;
    join();
    return exchange_.ticket[slot];
  }

  // A tile whose windows are to be evaluated; beyond the last tile there are none.
  struct TakenTile {
    unsigned number;
    int windows;
    EvaluateTile position;
  };
  __device__ TakenTile tile_of(unsigned ticket) const {
    if (ticket >= task_.tile_count) return {ticket, 0, {}};
    return {ticket, static_cast<int>(task_.lists.counts[ticket]), task_.tiles[ticket]};
  }

  __device__ void evaluate(const TakenTile& tile) {
    if (tile.windows == 0) return;
    level_ = task_.levels[tile.position.level];
    pixels_ = &task_.pixels[level_.step - 1];
    column_ = static_cast<int>(tile.position.column) * tile_columns;
    row_of_tile_ = static_cast<int>(tile.position.row) * pixels_->rows_of_windows;
    list_ = task_.lists.windows + std::size_t{tile.number} * tile_windows;
    if (thread_ == 0) exchange_.survivors[warpgroup_] = 0;
    begin_windows(0, tile.windows);
    load_pixels();
    join();
    for (int first = 0; first < tile.windows; first += warpgroup_windows) {
      take_windows();
      begin_windows(first + warpgroup_windows, tile.windows);
      for (int slice = 0; slice < slices_; ++slice) evaluate_slice(slice);
      join();  // all have their next windows; survivors may overwrite these
      report();
    }
    join();  // survivors are counted, and pixels no longer read
    if (thread_ == 0 && !task_.out.windows)
      task_.lists.counts[tile.number] = exchange_.survivors[warpgroup_];
  }

  __device__ int x() const { return level_.x + column_ * level_.step; }
  __device__ int y() const { return level_.y + row_of_tile_ * level_.step; }
  // Of this warpgroup, in words of shared memory.
  __device__ int pixels_word() const {
    return warpgroup_ * max(task_.pixels[0].bytes(), task_.pixels[1].bytes()) / 4;
  }

  __device__ void load_pixels() const {
    if (level_.step == 1)
      load_copies<1>();
    else
      load_copies<2>();
  }

  // A lane has a word of every row, each warp every fourth row. A copy's word consists of parts of
  // two words; the right one is the next lane's, so the last lane stores nothing. Past the atlas's
  // edges, where no window has pixels of weight, the last words there are stand for others.
  template <int step>
  __device__ void load_copies() const {
    constexpr int rows_at_once = 6, warps = 4, copy_words = TilePixels{step}.copy_words();
    const TilePixels& p = *pixels_;
    const View<const std::uint8_t>& atlas = task_.atlas;
    const bool stores = lane_ < 31 && lane_ < p.words;
    const int last_word = (static_cast<int>(atlas.pitch) - x()) / 4 - 1;
    const std::uint8_t* const from = atlas.row(y()) + x() + 4 * min(lane_, last_word);
    const int last_row = atlas.size.height - 1 - y(), pitch = static_cast<int>(atlas.pitch);
    int to = pixels_word() + warp_ * TilePixels::pitch + lane_;
    for (int row = warp_; row < p.rows; row += warps * rows_at_once) {
      std::uint32_t v[rows_at_once];
      FACESAT_UNROLL
      for (int k = 0; k < rows_at_once; ++k)
        v[k] =
            *reinterpret_cast<const std::uint32_t*>(from + min(row + k * warps, last_row) * pitch);
      FACESAT_UNROLL
      for (int k = 0; k < rows_at_once; ++k, to += warps * TilePixels::pitch) {
        const std::uint32_t next = __shfl_down_sync(full_warp, v[k], 1);
        if (!stores || row + k * warps >= p.rows) continue;
        FACESAT_UNROLL
        for (int shift = 0; shift < 4; shift += step)
          shared_[to + shift / step * copy_words] =
              __funnelshift_r(v[k], next, static_cast<unsigned>(8 * shift));
      }
    }
  }

  // ---- windows

  // The index, among the warpgroup's 64 windows, of this thread's first (half 0) or second one.
  __device__ int window_of(int half) const {
    return warp_ * warp_windows + half * 8 + lane_ / lanes_per_row;
  }

  // Begins to load the two windows that this thread evaluates next.
  __device__ void begin_windows(int first, int count) {
    FACESAT_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int index = first + window_of(half);
      next_[half] = index < count ? list_[index] : LateWindow{};
    }
  }

  // A lane reads one row of every square of its two windows.
  __device__ void take_windows() {
    FACESAT_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t id = id_[half] = next_[half].id;
      const int word = pixels_word() + pixels_->word(id % tile_columns, id / tile_columns) +
                       lane_ % lanes_per_row * TilePixels::pitch;
      first_byte_[half] = shared_.address() + 4u * static_cast<unsigned>(word);
      sums_.begin(half, next_[half].inverse_deviation);
    }
  }

  __device__ void evaluate_slice(int slice) {
    constexpr int at_once = (bytes.steps + 2) / 3;  // steps
    typename Sums::Values values;
    const int weights = weights_word() + slice * bundles * layout.weight_bytes() / 4;
    multiply<0, at_once>(values, weights);
    multiply<at_once, at_once>(values, weights);
    multiply<2 * at_once, bytes.steps - 2 * at_once>(values, weights);
    sums_.add(trees_word() + slice * bundles * layout.tree_bytes() / 4,
              task_.bundles - slice * bundles, values);
  }

  // The steps from `first` on.
  template <int first, int steps>
  __device__ void multiply(typename Sums::Values& values, int weights) const {
    std::uint32_t rows[steps][4];
    FACESAT_UNROLL
    for (int k = 0; k < steps; ++k) {
      const unsigned left = byte_of_square(2 * (first + k)),
                     right = byte_of_square(2 * (first + k) + 1);
      rows[k][0] = shared_.at(first_byte_[0] + left);
      rows[k][1] = shared_.at(first_byte_[1] + left);
      rows[k][2] = shared_.at(first_byte_[0] + right);
      rows[k][3] = shared_.at(first_byte_[1] + right);
    }
    constexpr unsigned core_matrix_bytes = 8 * pixels_per_row;
    const ByteMatrix nodes{
        shared_.address() + 4u * static_cast<unsigned>(weights) + first * 2 * core_matrix_bytes,
        layout.column_group_bytes(), core_matrix_bytes};
    if constexpr (by_warpgroup)
      multiply_rows_by_warpgroup(shared_, values, rows, nodes, first > 0);
    else
      multiply_rows_by_warps(shared_, values, rows, nodes, first > 0);
  }
  // From a window's first pixel. What follows the last square has weight 0.
  static __device__ constexpr unsigned byte_of_square(int square) {
    const int last = bytes.squares() - 1, n = square < last ? square : last;
    return static_cast<unsigned>(4 * (n / side * 4 * TilePixels::pitch + n % side));
  }

  __device__ void report() {
    if (task_.out.windows)
      append_survivors(
          sums_, [&](std::uint32_t n) { return atomicAdd(&task_.out.state->count, n); },
          [&](int half, std::uint32_t index) { task_.out.windows[index] = late_window(half); });
    else
      append_survivors(
          sums_, [&](std::uint32_t n) { return atomic_add(exchange_.survivors, warpgroup_, n); },
          [&](int half, std::uint32_t index) {
            list_[index] = {id_[half], sums_.inverse_deviation(half)};
          });
  }

  __device__ LateWindow late_window(int half) const {
    const auto column = static_cast<int>(id_[half] % tile_columns),
               row = static_cast<int>(id_[half] / tile_columns);
    const auto first_pixel = static_cast<std::uint32_t>(y() + row * level_.step) *
                                 static_cast<std::uint32_t>(task_.atlas.pitch) +
                             static_cast<std::uint32_t>(x() + column * level_.step);
    return {first_pixel, sums_.inverse_deviation(half)};
  }

  // The last block to end returns all tickets.
  __device__ void finish() const {
    __threadfence();  // after its own tickets
    __syncthreads();
    TileTickets& tickets = *task_.tickets;
    if (threadIdx.x > 0 || atomicAdd(&tickets.finished, 1u) + 1 < gridDim.x) return;
    __threadfence();
    tickets.next = 0;
    tickets.finished = 0;
  }

  const TileTask& task_;
  const Shared& shared_;
  Exchange& exchange_;
  const int slices_ = (task_.bundles + bundles - 1) / bundles;
  const int lane_ = static_cast<int>(threadIdx.x) % 32;
  const int thread_ = static_cast<int>(threadIdx.x) % warpgroup_threads;
  // By shuffles, so that the compiler knows that all lanes have the same.
  const int warp_ = __shfl_sync(full_warp, static_cast<int>(threadIdx.x) / 32 % 4, 0);
  const int warpgroup_ =
      __shfl_sync(full_warp, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  int turn_ = 0;
  // The tile.
  EvaluateLevel level_;
  int column_, row_of_tile_;
  const TilePixels* pixels_;
  LateWindow* list_;
  // The two windows, and those that come after them.
  LateWindow next_[2];
  std::uint32_t id_[2];
  unsigned first_byte_[2];
  Sums sums_;
};

template <bool by_warpgroup, int side, int column_groups, int tree_nodes>
__global__ void __launch_bounds__(most_warpgroups* warpgroup_threads, 1)
    tile_stages_kernel(FACESAT_PARAMETER(TileTask) task) {
  if constexpr (by_warpgroup && !has_warpgroup_products) {
    __trap();
  } else {
    __shared__ Exchange exchange;
    const Shared shared;
    TileEvaluation<by_warpgroup, side, column_groups, tree_nodes>(task, shared, exchange).run();
  }
}

// The squares in a row of the window; 0: there is no kernel.
int side_of(const WindowBytes& bytes) {
  const bool is_square = bytes.squares_across == bytes.squares_down;
  return is_square && (bytes.squares_across == 5 || bytes.squares_across == 6)
             ? bytes.squares_across
             : 0;
}

// Calls use(kernel) with the kernel for a task.
template <class Use>
void with_kernel(const TileTask& task, Use use) {
  const auto with_nodes = [&]<bool by_warpgroup, int side, int columns>() {
    switch (task.layout.tree_nodes) {
      case 1:
        return use(tile_stages_kernel<by_warpgroup, side, columns, 1>);
      case 2:
        return use(tile_stages_kernel<by_warpgroup, side, columns, 2>);
      default:
        return use(tile_stages_kernel<by_warpgroup, side, columns, 3>);
    }
  };
  const auto with_columns = [&]<bool by_warpgroup, int side>() {
    if (task.shape.column_groups == many_columns)
      with_nodes.template operator()<by_warpgroup, side, many_columns>();
    else
      with_nodes.template operator()<by_warpgroup, side, few_columns>();
  };
  const auto with_side = [&]<bool by_warpgroup>() {
    if (side_of(task.bytes) == 5)
      with_columns.template operator()<by_warpgroup, 5>();
    else
      with_columns.template operator()<by_warpgroup, 6>();
  };
  if (task.by_warpgroup)
    with_side.template operator()<true>();
  else
    with_side.template operator()<false>();
}

int bytes_of(const TileTask& task, int warpgroups) {
  const int bundles = task.shape.column_groups / task.layout.tree_nodes;
  return warpgroups * std::max(task.pixels[0].bytes(), task.pixels[1].bytes()) +
         divide_up(task.bundles, bundles) * bundles *
             (task.layout.weight_bytes() + task.layout.tree_bytes());
}

}  // namespace

TileTask tile_task(const CompiledProducts& products, const PatchLayout (&tiles)[2],
                   const std::byte* weights, const std::byte* trees, int first_stage, int end_stage,
                   int shared_bytes) {
  const std::ptrdiff_t first = products.first_bundle[first_stage];
  TileTask task{};
  task.layout = products.layout;
  task.bytes = products.window;
  task.weights = reinterpret_cast<const uint4*>(weights + first * task.layout.weight_bytes());
  task.trees = reinterpret_cast<const uint4*>(trees + first * task.layout.tree_bytes());
  task.bundles = products.first_bundle[end_stage] - products.first_bundle[first_stage];
  if (side_of(task.bytes) == 0) return task;
  for (int i = 0; i < 2; ++i) {
    task.pixels[i] = make_tile_pixels(task.bytes, tiles[i]);
    if (task.pixels[i].rows == 0) return task;
  }
  const int nodes = task.layout.tree_nodes;
  task.shape.column_groups = task.bundles * nodes > few_columns ? many_columns : few_columns;
  while (task.shape.warpgroups < most_warpgroups &&
         bytes_of(task, task.shape.warpgroups + 1) + static_bytes <=
             std::min(shared_bytes, shared_limit))
    ++task.shape.warpgroups;
  return task;
}

void enqueue_tile_stages(const TileTask& task, StreamHandle stream) {
  const int threads = task.shape.warpgroups * warpgroup_threads;
  const int bytes = bytes_of(task, task.shape.warpgroups);
  with_kernel(task, [&](auto* kernel) {
    const int blocks = resident_blocks(kernel, threads, static_cast<std::size_t>(bytes));
    FACESAT_LAUNCH_SHARED(kernel, dim3(blocks), dim3(threads), bytes, stream, task);
  });
}

}  // namespace facesat::gpu
