// A block takes a batch of windows from the queue and copies each window's pixels into a row of a
// matrix in shared memory. The features come as columns of a second matrix, slice by slice. A warp
// multiplies 16 windows (or several times 16) with all columns of a slice, alone or together with
// the other warps of its warpgroup; then each of its threads has the values of some nodes of some
// windows in registers: it compares them with the thresholds, looks up the leaves and adds them.
// The four threads that share a window add their sums at the end of a stage. Windows that pass the
// last stage of the group are appended to the next queue.
//
// Rejected windows stay where they are, and are multiplied on with the others of their warp, until
// none of the block's windows is left. That is why the stages are divided into groups, between
// which the queues close the gaps.
#include <algorithm>

#include "kernels/cascade/late_stages.hpp"
#include "kernels/device/matrix.hpp"
#include "kernels/device/warp.cuh"

namespace facesat::gpu {
namespace {

constexpr int warpgroup_threads = 128;
// So that threads have enough registers.
constexpr int max_warpgroups(int row_groups) {
  return row_groups == 2 ? 3 : 4;
}
constexpr int rows_per_group = 16;       // of one multiplication
constexpr int lanes_per_row = 4;         // threads that have the sums of a row
constexpr int lanes_per_window = 8;      // while pixels are copied
constexpr int shared_limit = 227 << 10;  // the most that any device has

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
template <bool by_warpgroup, int row_groups, int column_groups, int tree_nodes>
class LateEvaluation {
 public:
  __device__ LateEvaluation(const LateTask& task, const Shared& shared)
      : task_(task), shared_(shared) {}

  __device__ void run() {
    clear_padding();
    if (alone_) {
      for (int i = 0; i < slices_; ++i) begin_slice(i);
      wait_for_copies();
      publish();
      __syncthreads();
    }
    const auto batch = static_cast<std::uint32_t>(task_.shape.windows());
    for (std::uint32_t first = blockIdx.x * batch; first < total_; first += gridDim.x * batch) {
      load_windows(first + static_cast<std::uint32_t>(warpgroup_ * warpgroup_windows));
      begin_batch();
      for (int i = 0; i < slices_; ++i) {
        if (!alone_ && !next_slice(i)) break;
        if (by_warpgroup || __any_sync(full_warp, any_alive())) evaluate_slice(i);
      }
      report();
      if (!alone_) __syncthreads();
    }
    wait_for_copies();
    finish();
  }

 private:
  static constexpr int bundles = column_groups / tree_nodes;
  static constexpr int outcomes = 1 << tree_nodes;
  static constexpr int warpgroup_windows = 4 * row_groups * rows_per_group;

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
    if (!__syncthreads_or(any_alive())) return false;
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

  // A thread has `row_groups` times two windows: those of rows `row_` and `row_` + 8 of each of its
  // warp's groups. The four threads of a row have different columns.
  struct Windows {
    LateWindow at[row_groups][2];
    bool alive[row_groups][2];
    std::int64_t sum[row_groups][2];       // of the current stage, this thread's part
    std::int64_t last_sum[row_groups][2];  // of the last stage, whole
  };

  // Calls use(i, half) for the windows of a thread: at[i][half] and so on.
  template <class Use>
  __device__ static void for_windows(Use use) {
    FACESAT_UNROLL
    for (int k = 0; k < 2 * row_groups; ++k) use(k / 2, k % 2);
  }

  // The number of a row among the windows of the warpgroup.
  __device__ int window_of(int group, int row) const {
    return (group * 4 + warp_) * rows_per_group + row;
  }
  // The place of a window's pixel in shared memory, in words; `pixel` is a multiple of 4.
  __device__ int word_of(int window, int pixel) const {
    return (warpgroup_ * warpgroup_windows * task_.bytes.total()) / 4 +
           (pixel / pixels_per_row * warpgroup_windows + window) * (pixels_per_row / 4) +
           pixel % pixels_per_row / 4;
  }
  // The place of a slot in shared memory, in words: weights, then trees.
  __device__ int slot_word(int slot) const {
    const int slot_bytes = bundles * (task_.layout.weight_bytes() + task_.layout.tree_bytes());
    return (task_.shape.windows() * task_.bytes.total() + slot * slot_bytes) / 4;
  }
  __device__ int trees_word(int slot) const {
    return slot_word(slot) + bundles * task_.layout.weight_bytes() / 4;
  }

  __device__ bool any_alive() const {
    bool any = false;
    for_windows([&](int i, int half) { any = any || windows_.alive[i][half]; });
    return any;
  }

  // The bytes after a window's last row have weight 0, but must not be undefined. Two lanes per
  // row.
  __device__ void clear_padding() const {
    const int first = task_.bytes.row_bytes * task_.window.height + lane_ % 2 * 4;
    for (int i = 0; i < row_groups; ++i)
      for (int pixel = first; pixel < task_.bytes.total(); pixel += 8)
        shared_[word_of(window_of(i, lane_ / 2), pixel)] = 0;
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

  // The warpgroup's windows, from place `first` of the queue on.
  __device__ void load_windows(std::uint32_t first) {
    for_windows([&](int i, int half) {
      const std::uint32_t place = first + static_cast<std::uint32_t>(window_of(i, row_ + half * 8));
      LateWindow& window = windows_.at[i][half];
      window = place < total_ ? task_.in.windows[place] : LateWindow{};
      windows_.alive[i][half] = window.inverse_deviation != 0;
      windows_.sum[i][half] = 0;
      windows_.last_sum[i][half] = 0;
    });
  }

  // Copies the pixels of the warp's windows: eight lanes per window, a word each.
  __device__ void load_pixels() const {
    for_windows([&](int i, int half) {
      const std::uint32_t offset = first_pixel(windows_.at[i][half]);
      for (int row = 0; row < 8; row += 32 / lanes_per_window) {
        const int own_row = row + lane_ / lanes_per_window;
        const std::uint32_t from = __shfl_sync(full_warp, offset, own_row * lanes_per_row);
        load_window(window_of(i, own_row + half * 8), from);
      }
    });
  }

  // The offset of a window's first pixel in the atlas; 0 for those that do not exist.
  __device__ std::uint32_t first_pixel(const LateWindow& window) const {
    if (window.inverse_deviation == 0) return 0;
    const EvaluateLevel& level = task_.levels[window.level];
    const auto width = static_cast<std::uint32_t>(level.grid_width);
    const auto step = static_cast<std::uint32_t>(level.step);
    const std::uint32_t x = static_cast<std::uint32_t>(level.x) + window.cell % width * step,
                        y = static_cast<std::uint32_t>(level.y) + window.cell / width * step;
    return y * static_cast<std::uint32_t>(task_.atlas.pitch) + x;
  }

  // Words are loaded from 4-byte boundaries and shifted. A lane has the word `word` of a row; its
  // right part comes from the next lane, so the last lane has none.
  __device__ void load_window(int window, std::uint32_t from) const {
    const int lane = lane_ % lanes_per_window;
    const unsigned skipped = from % 4;  // bytes before the window's first pixel
    const auto* aligned =
        reinterpret_cast<const std::uint32_t*>(task_.atlas.data + (from - skipped));
    const std::ptrdiff_t pitch = task_.atlas.pitch / 4;
    const int row_words = task_.bytes.row_bytes / 4;
    // The last word that contains pixels of the window.
    const int last = (static_cast<int>(skipped) + task_.window.width - 1) / 4;
    for (int word = lane; word - lane < row_words; word += lanes_per_window - 1) {
      const std::uint32_t* column = aligned + min(word, last);
      const bool stores = lane < lanes_per_window - 1 && word < row_words;
      for (int y = 0; y < task_.window.height; y += rows_at_once) {
        std::uint32_t v[rows_at_once];
        FACESAT_UNROLL
        for (int k = 0; k < rows_at_once; ++k)
          v[k] = column[min(y + k, task_.window.height - 1) * pitch];
        FACESAT_UNROLL
        for (int k = 0; k < rows_at_once; ++k) {
          const std::uint32_t next = __shfl_down_sync(full_warp, v[k], 1);
          if (stores && y + k < task_.window.height)
            shared_[word_of(window, (y + k) * task_.bytes.row_bytes + word * 4)] =
                __funnelshift_r(v[k], next, skipped * 8);
        }
      }
    }
  }

  // In the order of multiply_by_warps(): [i] for row group i, [j] for column group j.
  using Values = std::int32_t[row_groups][column_groups][4];

  __device__ void evaluate_slice(int slice) {
    const int slot = slice % task_.shape.slots;
    Values values;
    constexpr unsigned tile_bytes = 8 * pixels_per_row;
    const ByteMatrix windows{address_of(word_of(0, 0)), tile_bytes,
                             warpgroup_windows * pixels_per_row},
        nodes{address_of(slot_word(slot)), static_cast<unsigned>(task_.layout.column_group_bytes()),
              tile_bytes};
    if constexpr (by_warpgroup)
      multiply_by_warpgroup(shared_, values, windows, nodes, task_.bytes.steps);
    else
      multiply_by_warps(shared_, values, windows, nodes, task_.bytes.steps);
    respond(trees_word(slot), task_.bundles - slice * bundles, values);
  }
  __device__ unsigned address_of(int word) const {
    return shared_.address() + 4u * static_cast<unsigned>(word);
  }

  // Adds the leaves of a slice's trees, and decides at the ends of stages. `trees`: their place in
  // shared memory, in words; `count`: how many bundles the group has from here on.
  __device__ void respond(int trees, int count, const Values& values) {
    FACESAT_UNROLL
    for (int b = 0; b < bundles; ++b, trees += task_.layout.tree_bytes() / 4) {
      if (b >= count) return;
      add_leaves<0>(trees, b, values);
      add_leaves<1>(trees, b, values);
      const auto end = shared_.template read<BundleEnd>(trees + task_.layout.end() / 4);
      if (end.ends_stage) end_stage(end.threshold);
    }
  }

  // For one of the two trees that a thread has of a bundle.
  template <int side>
  __device__ void add_leaves(int trees, int bundle, const Values& values) {
    const int tree = lane_ % lanes_per_row * 2 + side;
    const int leaves = trees + task_.layout.leaves() / 4 + tree * outcomes * 2;
    float threshold[tree_nodes];
    FACESAT_UNROLL
    for (int j = 0; j < tree_nodes; ++j)
      threshold[j] = shared_.template read<float>(trees + j * column_group + tree);
    for_windows([&](int i, int half) {
      int outcome = 0;
      FACESAT_UNROLL
      for (int j = 0; j < tree_nodes; ++j) {
        const auto value = static_cast<float>(values[i][bundle * tree_nodes + j][half * 2 + side]);
        if (value * windows_.at[i][half].inverse_deviation < threshold[j]) outcome |= 1 << j;
      }
      windows_.sum[i][half] += shared_.template read<std::int64_t>(leaves + outcome * 2);
    });
  }

  __device__ void end_stage(std::int64_t threshold) {
    for_windows([&](int i, int half) {
      std::int64_t sum = windows_.sum[i][half];
      for (int d = 1; d < lanes_per_row; d *= 2) sum += __shfl_xor_sync(full_warp, sum, d);
      windows_.alive[i][half] = windows_.alive[i][half] && sum >= threshold;
      windows_.last_sum[i][half] = sum;
      windows_.sum[i][half] = 0;
    });
  }

  // Appends the warp's survivors to the next queue, or to the candidates.
  __device__ void report() const {
    unsigned votes[row_groups][2];
    int count = 0;
    for_windows([&](int i, int half) {
      const bool mine = windows_.alive[i][half] && lane_ % lanes_per_row == 0;
      votes[i][half] = __ballot_sync(full_warp, mine);
      count += __popc(votes[i][half]);
    });
    if (count == 0) return;
    std::uint32_t place = 0;
    if (lane_ == 0)
      place = atomicAdd(task_.out.windows ? &task_.out.state->count : task_.candidate_count,
                        static_cast<std::uint32_t>(count));
    place = __shfl_sync(full_warp, place, 0);
    for_windows([&](int i, int half) {
      const int before = __popc(votes[i][half] & ((1u << lane_) - 1));
      if (votes[i][half] >> lane_ & 1)
        append(place + static_cast<std::uint32_t>(before), windows_.at[i][half],
               windows_.last_sum[i][half]);
      place += static_cast<std::uint32_t>(__popc(votes[i][half]));
    });
  }
  __device__ void append(std::uint32_t place, const LateWindow& window, std::int64_t sum) const {
    if (task_.out.windows)
      task_.out.windows[place] = window;  // there are no more than have come in
    else if (place < task_.capacity)
      task_.candidates[place] = {sum, window.cell, window.level};
  }

  // The last block to end empties the queue: all others have read its count.
  __device__ void finish() const {
    __syncthreads();
    QueueState& state = *task_.in.state;
    if (threadIdx.x > 0 || atomicAdd(&state.finished, 1u) + 1 < gridDim.x) return;
    state.count = 0;
    state.finished = 0;
  }

  static constexpr int rows_at_once = 6;  // of a window, in flight

  const LateTask& task_;
  const Shared& shared_;
  const int slices_ = (task_.bundles + bundles - 1) / bundles;
  // Whether all slices stay in shared memory, so that warpgroups need not wait for each other.
  const bool alone_ = slices_ <= task_.shape.slots;
  const std::uint32_t total_ = min(task_.in.state->count, task_.in.capacity);
  const int lane_ = static_cast<int>(threadIdx.x) % 32;
  const int warp_ = static_cast<int>(threadIdx.x) / 32 % 4, row_ = lane_ / lanes_per_row;
  const int warpgroup_ = static_cast<int>(threadIdx.x) / warpgroup_threads;
  Windows windows_;
};

template <bool by_warpgroup, int row_groups, int column_groups, int tree_nodes>
__global__ void __launch_bounds__(max_warpgroups(row_groups) * warpgroup_threads, 1)
    late_stages_kernel(FACESAT_PARAMETER(LateTask) task) {
  if constexpr (by_warpgroup && !has_warpgroup_products) {
    __trap();
  } else {
    const Shared shared;
    LateEvaluation<by_warpgroup, row_groups, column_groups, tree_nodes>(task, shared).run();
  }
}

// Calls use(kernel) with the kernel for a task.
template <class Use>
void with_kernel(const LateTask& task, Use use) {
  const auto with_shape = [&]<bool by_warpgroup, int nodes, int column_groups>() {
    if (task.shape.row_groups == 2)
      use(late_stages_kernel<by_warpgroup, 2, column_groups, nodes>);
    else
      use(late_stages_kernel<by_warpgroup, 1, column_groups, nodes>);
  };
  const auto with_columns = [&]<bool by_warpgroup, int nodes>() {
    if (task.shape.column_groups == many_columns(nodes))
      with_shape.template operator()<by_warpgroup, nodes, many_columns(nodes)>();
    else
      with_shape.template operator()<by_warpgroup, nodes, few_columns(nodes)>();
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

int bytes_of(const LateShape& shape, const BundleLayout& layout) {
  const int bundles = shape.column_groups / layout.tree_nodes;
  return shape.windows() * layout.steps * pixels_per_step +
         shape.slots * bundles * (layout.weight_bytes() + layout.tree_bytes());
}

}  // namespace

LateShape choose_late_shape(const BundleLayout& layout, int bundles, int shared_bytes) {
  const int nodes = layout.tree_nodes;
  LateShape shape{};
  for (const int columns : {many_columns(nodes), few_columns(nodes)}) {
    const int slices = divide_up(bundles, columns / nodes);
    for (const int slots : {slices, 2})
      for (const int row_groups : {2, 1}) {
        shape = {columns, row_groups, 0, std::min(slots, slices)};
        const auto fits = [&](LateShape larger) {
          return bytes_of(larger, layout) <= std::min(shared_bytes, shared_limit);
        };
        while (shape.warpgroups < max_warpgroups(row_groups) &&
               fits({columns, row_groups, shape.warpgroups + 1, shape.slots}))
          ++shape.warpgroups;
        if (shape.warpgroups >= 2) return shape;
      }
  }
  return shape;
}

LateTask products_task(const CompiledProducts& products, const std::byte* weights,
                       const std::byte* trees, int first_stage, int end_stage) {
  const std::ptrdiff_t first = products.first_bundle[first_stage];
  LateTask task{};
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

void enqueue_late_stages(const LateTask& task, StreamHandle stream) {
  const int threads = task.shape.warpgroups * warpgroup_threads;
  const int bytes = bytes_of(task.shape, task.layout);
  with_kernel(task, [&](auto* kernel) {
    const int blocks = resident_blocks(kernel, threads, static_cast<std::size_t>(bytes));
    FACESAT_LAUNCH_SHARED(kernel, dim3(blocks), dim3(threads), bytes, stream, task);
  });
}

}  // namespace facesat::gpu
