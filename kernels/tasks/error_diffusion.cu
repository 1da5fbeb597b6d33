// Error diffusion: the ways to compute it.
#include <array>

#include "kernels/tasks/engine_solver.cuh"
#include "kernels/tasks/error_diffusion.hpp"
#include "kernels/tasks/facesat_halftone.cuh"
#include "kernels/tasks/halftone_parallelograms.cuh"

namespace facesat::gpu {
namespace {

template <class Rule>
using Own = OwnHalftone<Rule, 4, 3>;

// Words for the last row of each strip.
std::size_t own_workspace_bytes(const HalftoneTask& task) {
  const auto strips = static_cast<std::size_t>(Own<RealHalftone>{task}.strips);
  return header_bytes + strips * static_cast<std::size_t>(task.size.width) * sizeof(Word);
}

void enqueue_own(const HalftoneTask& task, void* workspace, StreamHandle stream) {
  visit_rule(task.rule, [&]<class Rule>(Rule) {
    const Own<Rule> own{task};
    FACESAT_LAUNCH(own_halftone_kernel<Own<Rule>>, dim3(static_cast<unsigned>(own.strips)),
                   dim3(32 * (Own<Rule>::workers + 1)), stream, own,
                   static_cast<Header*>(workspace),
                   reinterpret_cast<Word*>(static_cast<std::byte*>(workspace) + header_bytes));
  });
}

// The engine's solver for the rule of the task.
template <TaskSchedule schedule, bool by_words = true>
HalftoneSolver parallelograms(std::string_view id, std::string_view title, std::string_view paper) {
  static const auto of = [](HalftoneRule rule) {
    return visit_rule(rule, []<class Rule>(Rule) {
      return engine_solver<HalftoneTask, HalftoneParallelograms<Rule, by_words>, schedule>({}, {},
                                                                                           {});
    });
  };
  return {.id = id,
          .title = title,
          .paper = paper,
          .workspace_bytes =
              [](const HalftoneTask& task) { return of(task.rule).workspace_bytes(task); },
          .launches = [](const HalftoneTask& task) { return of(task.rule).launches(task); },
          .enqueue = [](const HalftoneTask& task, void* workspace,
                        StreamHandle stream) { of(task.rule).enqueue(task, workspace, stream); }};
}

constexpr std::string_view kasagi =
    "Kasagi, Nakano, Ito: Parallelization techniques for error diffusion with GPU implementations, "
    "2015 (Parallel-Backward)";
constexpr std::string_view funasaka =
    "Funasaka, Nakano, Ito: Single Kernel Soft Synchronization Technique for Task Arrays on "
    "CUDA-enabled GPUs, with Applications, 2017";

}  // namespace

std::span<const HalftoneSolver> halftone_solvers() {
  using enum TaskSchedule;
  static const std::array solvers{
      HalftoneSolver{.id = "facesat",
                     .title = "Several warps per block, errors through shared memory",
                     .paper = "ours",
                     .workspace_bytes = own_workspace_bytes,
                     .launches = [](const HalftoneTask&) { return 1; },
                     .enqueue = enqueue_own},
      parallelograms<warps>("skss_warps", "SKSS: a warp per row of parallelograms", funasaka),
      parallelograms<blocks>("skss_blocks", "SKSS: a block per row of parallelograms", funasaka),
      parallelograms<resident_blocks>("skss_resident", "SKSS: as many blocks as run at a time",
                                      funasaka),
      parallelograms<warps, false>("skss_counters", "skss_warps with counters in place of words",
                                   funasaka),
      parallelograms<steps>("steps", "One launch per set of independent parallelograms", kasagi)};
  return solvers;
}

}  // namespace facesat::gpu
