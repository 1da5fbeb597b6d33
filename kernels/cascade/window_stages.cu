// A warpgroup (four warps) takes 64 windows from the queue and copies their pixels into the rows of
// a matrix in shared memory. The features come as columns of a second matrix, slice by slice. The
// warpgroup multiplies its windows with all columns of a slice, together or each warp its own; then
// each thread has the values of some nodes of two windows in registers: it compares them with the
// thresholds and adds the leaves. The four threads that share a window add their sums at the end of
// a stage. Windows that pass the last stage of the group are appended to the next queue.
//
// If the features of all stages of the group fit into shared memory, they stay there, and
// warpgroups run independently; else the warpgroups of a block wait for every slice together.
// Rejected windows stay where they are, and are multiplied on with the others. That is why the
// stages are divided into groups, between which the queues close the gaps.
//
// What costs most is copying pixels: their loads, and at first the arithmetic for addresses. With
// squares of 4 x 4 pixels as the unit of a matrix's row (see WindowBytes), four loads of four bytes
// make one store of 16, and places are multiples of constants.
#include <algorithm>

#include "kernels/cascade/late_stages.hpp"
#include "kernels/cascade/window_sums.cuh"
#include "kernels/device/matrix.hpp"

namespace facesat::gpu {
namespace {

constexpr int most_warpgroups = 4;
constexpr int lanes_per_window = 8;      // while pixels are copied
constexpr int shared_limit = 227 << 10;  // the most that any device has

// Of the matrix of windows, in bytes: from a core matrix (see device/matrix.hpp) to the one to its
// right. Eight lanes write to eight of them at once; with this distance, all in different banks.
constexpr int core_matrices_apart = warpgroup_windows * pixels_per_row + 16;

// Groups of columns of a slice, where shared memory is large and where it is small: even multiples
// of a tree's nodes.
constexpr int many_columns(int tree_nodes) {
  return tree_nodes == 3 ? 6 : 8;
}
constexpr int few_columns(int tree_nodes) {
  return tree_nodes == 3 ? 6 : 4;
}
static_assert(spare_bundles >= many_columns(1), "a group's last slice may go beyond its end");

using Shared = DynamicShared<std::uint32_t>;

// The evaluation of batches by one warp.
template <bool by_warpgroup, int column_groups, int tree_nodes>
class WindowEvaluation {
 public:
  __device__ WindowEvaluation(const WindowTask& task, const Shared& shared)
      : task_(task), shared_(shared), sums_(shared) {}

  __device__ void run() {
    clear_padding();
    if (alone_) {
      for (int i = 0; i < slices_; ++i) begin_slice(i);
      wait_for_copies();
      publish();
      __syncthreads();
    }
    // Few windows are spread over all blocks.
    const std::uint32_t share = (total_ + gridDim.x - 1) / gridDim.x;
    const std::uint32_t warpgroups = min((share + warpgroup_windows - 1) / warpgroup_windows,
                                         static_cast<std::uint32_t>(task_.shape.warpgroups));
    const std::uint32_t batch = warpgroups * warpgroup_windows;
    for (std::uint32_t first = blockIdx.x * batch; first < total_; first += gridDim.x * batch) {
      const std::uint32_t own = first + static_cast<std::uint32_t>(warpgroup_) * warpgroup_windows;
      const bool has_windows = own < min(first + batch, total_);
      if (alone_ && !has_windows) break;
      load_windows(own, has_windows ? min(first + batch, total_) : own);
      begin_batch();
      for (int i = 0; i < slices_; ++i) {
        if (!alone_ && !next_slice(i)) break;
        if (has_windows && (by_warpgroup || __any_sync(full_warp, sums_.any_alive())))
          evaluate_slice(i);
      }
      report();
      if (!alone_) __syncthreads();
    }
    wait_for_copies();
    finish();
  }

 private:
  using Sums = WindowSums<column_groups, tree_nodes>;
  static constexpr int bundles = Sums::bundles;

  __device__ void begin_batch() {
    if (alone_)
      join();  // the last batch's pixels are no longer read
    else
      begin_slice(0);
    load_pixels();
    if (!alone_) return;
    publish();
    join();
  }

  // Waits for slice i and begins to copy the next one. Returns false if no window of the block is
  // left.
  __device__ bool next_slice(int i) const {
    wait_for_copies();
    publish();
    if (!__syncthreads_or(sums_.any_alive())) return false;
    // The slot of the next slice was last read before this barrier.
    if (i + 1 < slices_) begin_slice(i + 1);
    return true;
  }

  // What this thread has written will be multiplied, after a barrier.
  __device__ void publish() const {
    if constexpr (by_warpgroup) publish_matrices();
  }
  // A barrier of those who multiply together.
  __device__ void join() const {
    if constexpr (by_warpgroup)
      part_barrier(warpgroup_threads, 1 + warpgroup_);
    else
      __syncwarp();
  }

  // The number of a row of the warp among the windows of the warpgroup.
  __device__ int window_of(int row) const { return warp_ * warp_windows + row; }
  // Where the row of a window begins in shared memory, in words: in its first core matrix.
  __device__ int word_of(int window) const {
    return (warpgroup_ * task_.bytes.core_matrices() * core_matrices_apart +
            window * pixels_per_row) /
           4;
  }
  // Where a slot begins in shared memory, in words: weights, then trees.
  __device__ int slot_word(int slot) const {
    const int slot_bytes = bundles * (task_.layout.weight_bytes() + task_.layout.tree_bytes());
    return (task_.shape.warpgroups * task_.bytes.core_matrices() * core_matrices_apart +
            slot * slot_bytes) /
           4;
  }
  __device__ int trees_word(int slot) const {
    return slot_word(slot) + bundles * task_.layout.weight_bytes() / 4;
  }

  // What follows a window's last square has weight 0, but must not be undefined. Two lanes per row.
  __device__ void clear_padding() const {
    for (int number = task_.bytes.squares(); number < task_.bytes.core_matrices(); ++number)
      for (int word = lane_ % 2; word < pixels_per_row / 4; word += 2)
        shared_[word_of(window_of(lane_ / 2)) + number * core_matrices_apart / 4 + word] = 0;
  }

  // All threads of the block copy a slice into its slot.
  __device__ void begin_slice(int slice) const {
    const int slot = slice % task_.shape.slots;
    begin_part(slot_word(slot), task_.weights, slice, task_.layout.weight_bytes());
    begin_part(trees_word(slot), task_.trees, slice, task_.layout.tree_bytes());
  }
  __device__ void begin_part(int to, const uint4* all, int slice, int bundle_bytes) const {
    const int parts = bundles * bundle_bytes / 16;
    const uint4* from = all + static_cast<std::ptrdiff_t>(slice) * parts;
    for (int i = static_cast<int>(threadIdx.x); i < parts; i += static_cast<int>(blockDim.x))
      begin_copy(shared_, to + i * 4, from + i);
  }

  // The warpgroup's windows are those of the queue from `first` to `end`, at most 64.
  __device__ void load_windows(std::uint32_t first, std::uint32_t end) {
    FACESAT_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t index = first + static_cast<std::uint32_t>(window_of(row_ + half * 8));
      const LateWindow window = index < end ? task_.in.windows[index] : LateWindow{};
      first_pixel_[half] = window.id;
      sums_.begin(half, window.inverse_deviation);
    }
  }

  // Copies the pixels of the warp's windows, four windows at once.
  __device__ void load_pixels() const {
    constexpr int at_once = 32 / lanes_per_window;
    for (int row = 0; row < warp_windows; row += at_once) {
      const int own_row = row + lane_ / lanes_per_window;
      const std::uint32_t from = __shfl_sync(full_warp, row < 8 ? first_pixel_[0] : first_pixel_[1],
                                             own_row % 8 * lanes_per_row);
      load_window(window_of(own_row), from);
    }
  }

  // Words are loaded from 4-byte boundaries and shifted. A lane has a column of words; their right
  // parts come from the next lane, so the last lane has none.
  __device__ void load_window(int window, std::uint32_t from) const {
    const int lane = lane_ % lanes_per_window;
    const unsigned skipped = from % 4;  // bytes before the window's first pixel
    const int down = task_.bytes.squares_down, whole = task_.window.height / 4;
    // The last word that contains pixels of the window.
    const int last = (static_cast<int>(skipped) + task_.window.width - 1) / 4;
    for (int word = lane; word - lane < task_.bytes.squares_across; word += lanes_per_window - 1) {
      const bool stores = lane < lanes_per_window - 1 && word < task_.bytes.squares_across;
      Column column{task_.atlas.data + (from - skipped) + 4 * min(word, last), skipped * 8,
                    word_of(window) + word * (core_matrices_apart / 4), stores};
      int square = 0;
      for (; square + squares_at_once <= whole; square += squares_at_once)
        copy_squares<squares_at_once>(column, 4 * squares_at_once);
      for (; square < whole; ++square) copy_squares<1>(column, 4);
      if (square < down) copy_squares<1>(column, task_.window.height % 4);
    }
  }

  struct Column {
    const std::uint8_t* from;
    unsigned shift;
    int to;  // in shared memory, in words
    bool stores;
  };
  // Copies the next `squares` squares of a column, of which only `rows` rows exist; the last one
  // stands for those that do not.
  template <int squares>
  __device__ void copy_squares(Column& column, int rows) const {
    std::uint32_t v[4 * squares];
    FACESAT_UNROLL
    for (int k = 0; k < 4 * squares; ++k) {
      v[k] = *reinterpret_cast<const std::uint32_t*>(column.from);
      if (squares > 1 || k + 1 < rows || rows == 4) column.from += task_.atlas.pitch;
    }
    FACESAT_UNROLL
    for (std::uint32_t& one : v)
      one = __funnelshift_r(one, __shfl_down_sync(full_warp, one, 1), column.shift);
    FACESAT_UNROLL
    for (int k = 0; k < squares; ++k) {
      if (column.stores)
        shared_.write(column.to, uint4{v[4 * k], v[4 * k + 1], v[4 * k + 2], v[4 * k + 3]});
      column.to += task_.bytes.squares_across * (core_matrices_apart / 4);
    }
  }

  __device__ void evaluate_slice(int slice) {
    const int slot = slice % task_.shape.slots;
    typename Sums::Values values;
    constexpr unsigned core_matrix_bytes = 8 * pixels_per_row;
    const ByteMatrix windows{address_of(word_of(0)), core_matrix_bytes, core_matrices_apart},
        nodes{address_of(slot_word(slot)), static_cast<unsigned>(task_.layout.column_group_bytes()),
              core_matrix_bytes};
    if constexpr (by_warpgroup)
      multiply_by_warpgroup(shared_, values, windows, nodes, task_.bytes.steps);
    else
      multiply_by_warps(shared_, values, windows, nodes, task_.bytes.steps);
    sums_.add(trees_word(slot), task_.bundles - slice * bundles, values);
  }
  __device__ unsigned address_of(int word) const {
    return shared_.address() + 4u * static_cast<unsigned>(word);
  }

  // Appends the warp's survivors to the next queue, or to the candidates.
  __device__ void report() const {
    if (task_.out.windows) {
      append_survivors(
          sums_, [&](std::uint32_t n) { return atomicAdd(&task_.out.state->count, n); },
          [&](int half, std::uint32_t index) {  // there are no more than have come in
            task_.out.windows[index] = {first_pixel_[half], sums_.inverse_deviation(half)};
          });
      return;
    }
    const int levels[2] = {level_of(0), level_of(1)};
    append_survivors(
        sums_, [&](std::uint32_t n) { return atomicAdd(task_.candidate_count, n); },
        [&](int half, std::uint32_t index) {
          if (index < task_.capacity) task_.candidates[index] = candidate(half, levels[half]);
        });
  }

  // The level in which a half's window lies, if the window is still alive. The warp searches for
  // one window at a time, and each lane tests other levels: a lane that searched alone would wait
  // for one load after the other. There are few candidates.
  __device__ int level_of(int half) const {
    int level = 0;
    const bool wanted = sums_.alive(half) && lane_ % lanes_per_row == 0;
    for (unsigned left = __ballot_sync(full_warp, wanted); left != 0; left &= left - 1) {
      const int lane = __ffs(static_cast<int>(left)) - 1;
      const std::uint32_t pixel = __shfl_sync(full_warp, first_pixel_[half], lane);
      for (int first = 0; first < task_.level_count; first += 32) {
        const int i = first + lane_;
        const bool is_inside =
            i < task_.level_count && grid_position(pixel, task_.first_level + i).is_inside;
        const unsigned votes = __ballot_sync(full_warp, is_inside);
        if (votes != 0 && lane == lane_)
          level = task_.first_level + first + __ffs(static_cast<int>(votes)) - 1;
      }
    }
    return level;
  }

  // The column and row, in the grid of a level, of the window that begins at a pixel of the atlas.
  struct GridPosition {
    int column, row, width;
    bool is_inside;
  };
  __device__ GridPosition grid_position(std::uint32_t pixel, int level_index) const {
    const EvaluateLevel& level = task_.levels[level_index];
    const auto pitch = static_cast<std::uint32_t>(task_.atlas.pitch);
    const int column = (static_cast<int>(pixel % pitch) - level.x) >> (level.step - 1),
              row = (static_cast<int>(pixel / pitch) - level.y) >> (level.step - 1);
    return {column, row, level.grid_width,
            column >= 0 && column < level.grid_width && row >= 0 && row < level.grid_height};
  }

  __device__ Candidate candidate(int half, int level) const {
    const GridPosition at = grid_position(first_pixel_[half], level);
    return {sums_.last_sum(half), static_cast<std::uint32_t>(at.row * at.width + at.column), level};
  }

  // The last block to end empties the queue: all others have read its count.
  __device__ void finish() const {
    __syncthreads();
    QueueState& state = *task_.in.state;
    if (threadIdx.x > 0 || atomicAdd(&state.finished, 1u) + 1 < gridDim.x) return;
    state.count = 0;
    state.finished = 0;
  }

  static constexpr int squares_at_once = 3;  // of a column, in flight

  const WindowTask& task_;
  const Shared& shared_;
  const int slices_ = (task_.bundles + bundles - 1) / bundles;
  // Whether all slices stay in shared memory, so that warpgroups need not wait for each other.
  const bool alone_ = slices_ <= task_.shape.slots;
  const std::uint32_t total_ = min(task_.in.state->count, task_.in.capacity);
  const int lane_ = static_cast<int>(threadIdx.x) % 32;
  // By shuffles, so that the compiler knows that all lanes have the same.
  const int warp_ = __shfl_sync(full_warp, static_cast<int>(threadIdx.x) / 32 % 4, 0);
  const int warpgroup_ =
      __shfl_sync(full_warp, static_cast<int>(threadIdx.x) / warpgroup_threads, 0);
  const int row_ = lane_ / lanes_per_row;
  std::uint32_t first_pixel_[2];
  Sums sums_;
};

template <bool by_warpgroup, int column_groups, int tree_nodes>
__global__ void __launch_bounds__(most_warpgroups* warpgroup_threads, 1)
    window_stages_kernel(FACESAT_PARAMETER(WindowTask) task) {
  if constexpr (by_warpgroup && !has_warpgroup_products) {
    __trap();
  } else {
    const Shared shared;
    WindowEvaluation<by_warpgroup, column_groups, tree_nodes>(task, shared).run();
  }
}

// Calls use(kernel) with the kernel for a task.
template <class Use>
void with_kernel(const WindowTask& task, Use use) {
  const auto with_columns = [&]<bool by_warpgroup, int nodes>() {
    if (task.shape.column_groups == many_columns(nodes))
      use(window_stages_kernel<by_warpgroup, many_columns(nodes), nodes>);
    else
      use(window_stages_kernel<by_warpgroup, few_columns(nodes), nodes>);
  };
  const auto with_nodes = [&]<bool by_warpgroup>() {
    switch (task.layout.tree_nodes) {
      case 1:
        return with_columns.template operator()<by_warpgroup, 1>();
      case 2:
        return with_columns.template operator()<by_warpgroup, 2>();
      default:
        return with_columns.template operator()<by_warpgroup, 3>();
    }
  };
  if (task.by_warpgroup)
    with_nodes.template operator()<true>();
  else
    with_nodes.template operator()<false>();
}

int bytes_of(const WindowShape& shape, const BundleLayout& layout) {
  const int core_matrices = layout.steps * (pixels_per_step / pixels_per_row);
  const int bundles = shape.column_groups / layout.tree_nodes;
  return shape.warpgroups * core_matrices * core_matrices_apart +
         shape.slots * bundles * (layout.weight_bytes() + layout.tree_bytes());
}

}  // namespace

WindowShape choose_window_shape(const BundleLayout& layout, int bundles, int shared_bytes) {
  const int nodes = layout.tree_nodes;
  WindowShape shape{};
  for (const int columns : {many_columns(nodes), few_columns(nodes)}) {
    const int slices = divide_up(bundles, columns / nodes);
    for (const int slots : {slices, 2}) {
      shape = {columns, 0, std::min(slots, slices)};
      const auto fits = [&](WindowShape larger) {
        return bytes_of(larger, layout) <= std::min(shared_bytes, shared_limit);
      };
      while (shape.warpgroups < most_warpgroups &&
             fits({columns, shape.warpgroups + 1, shape.slots}))
        ++shape.warpgroups;
      if (shape.warpgroups >= 2) return shape;
    }
  }
  return shape;
}

WindowTask products_task(const CompiledProducts& products, const std::byte* weights,
                         const std::byte* trees, int first_stage, int end_stage) {
  const std::ptrdiff_t first = products.first_bundle[first_stage];
  WindowTask task{};
  task.layout = products.layout;
  task.bytes = products.window;
  task.weights = reinterpret_cast<const uint4*>(weights + first * task.layout.weight_bytes());
  task.trees = reinterpret_cast<const uint4*>(trees + first * task.layout.tree_bytes());
  task.bundles = products.first_bundle[end_stage] - products.first_bundle[first_stage];
  return task;
}

bool can_multiply_by_warpgroup() {
#if defined(FACESAT_SIMT)
  return true;
#elif defined(FACESAT_HAS_SM_90A)
  int device = 0, major = 0;
  FACESAT_CUDA(cudaGetDevice(&device));
  FACESAT_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  return major == 9;
#else
  return false;
#endif
}

void enqueue_window_stages(const WindowTask& task, StreamHandle stream) {
  const int threads = task.shape.warpgroups * warpgroup_threads;
  const int bytes = bytes_of(task.shape, task.layout);
  with_kernel(task, [&](auto* kernel) {
    const int blocks = resident_blocks(kernel, threads, static_cast<std::size_t>(bytes));
    FACESAT_LAUNCH_SHARED(kernel, dim3(blocks), dim3(threads), bytes, stream, task);
  });
}

}  // namespace facesat::gpu
