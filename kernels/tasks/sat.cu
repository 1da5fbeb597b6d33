// Integral images as a task array: the schedules, in comparison.
#include <array>

#include "kernels/sat/funasaka_2017.cuh"
#include "kernels/tasks/problems.hpp"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {
namespace {

template <HandOver hand_over, EdgesAdded edges_added>
struct FloatTiles {
  using Tiles = SatTiles<Pass<float, float, false>, hand_over, edges_added>;
  static Tiles of(const SatTask& task, void* words) {
    return Tiles::of(make_pass<float, float, false>(task), words);
  }
  static std::size_t table_bytes(const SatTask& task) { return Tiles::table_bytes(task.size); }
};

template <TaskSchedule schedule, HandOver hand_over = HandOver::words,
          EdgesAdded edges_added = EdgesAdded::before_sums>
SatSolver tiles(std::string_view id, std::string_view title, std::string_view source) {
  return engine_solver<SatTask, FloatTiles<hand_over, edges_added>, schedule>(id, title, source);
}

constexpr std::string_view kasagi =
    "Kasagi, Nakano, Ito: Parallel Algorithms for the Summed Area Table on the Asynchronous "
    "Hierarchical Memory Machine, with GPU implementations, 2014 (1R1W, Parallel-Fair)";
constexpr std::string_view funasaka =
    "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays on "
    "CUDA-enabled GPUs, with Applications, 2017";

constexpr SatSolver own{
    .id = "facesat",
    .title = "Single pass with look-back: facesat_lookback of kernels/sat",
    .source = "ours",
    .workspace_bytes =
        [](const SatTask& task) { return facesat_lookback.workspace_bytes(task.type, task.size); },
    .launches = [](const SatTask&) { return facesat_lookback.launches; },
    .enqueue = [](const SatTask& task, void* workspace,
                  StreamHandle stream) { facesat_lookback.enqueue(task, workspace, stream); }};

}  // namespace

std::span<const SatSolver> sat_solvers() {
  using enum TaskSchedule;
  static const std::array solvers{
      own,
      tiles<warps>("skss_warps", "SKSS: a warp per row of tiles", funasaka),
      tiles<blocks>("skss_blocks", "SKSS: a block per row of tiles", funasaka),
      tiles<resident_blocks>("skss_resident", "SKSS: as many blocks as run at a time", funasaka),
      tiles<warps, HandOver::counters>("skss_counters", "skss_warps with counters, not words",
                                       funasaka),
      tiles<warps, HandOver::flags>("skss_flags", "skss_warps with a flag per tile, not words",
                                    funasaka),
      tiles<warps, HandOver::flags, EdgesAdded::after_sums>(
          "skss_paper", "a flag per tile, and the edges added to its own table, as in the paper",
          funasaka),
      tiles<steps>("steps", "One launch per anti-diagonal of tiles", kasagi)};
  return solvers;
}

}  // namespace facesat::gpu
