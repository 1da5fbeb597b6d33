// Recursive doubling: the first SAT algorithm for GPUs.
//
// Idea: after pass i along the rows, every element is the sum of the last 16^(i + 1) pixels; the
//   next pass adds up 16 elements at that distance from each other. When whole rows are summed, the
//   same continues along the columns. Two tables alternate as source and target of the passes.
// Shapes: one thread per element, blocks of 256 along a row.
// Reads and writes per element: one of each per pass, if the caches hold the other 15 samples;
//   ceil(log16 n) passes along rows of n elements and as many along columns: 6 for sides from 257
//   to 4096, 8 beyond.
// Launches: one per pass.
// Workspace: the other table.
// Source: Justin Hensley, Thorsten Scheuermann, Greg Coombe, Montek Singh, Anselmo Lastra: Fast
//   Summed-Area Table Generation and its Applications, Computer Graphics Forum 24(3), 2005; written
//   from descriptions of it.
// Departs from it in: threads replace fragments, tables in memory replace textures, and a
//   comparison replaces the zeros around them.
#include "kernels/sat/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int samples = 16;  // added up per pass; the paper leaves the number open
constexpr int threads = 256;

enum class Along { rows, columns };

// Every element becomes the sum of the 16 that are 0, 1, ... 15 steps before it.
template <Along along, class Source>
__global__ void __launch_bounds__(threads) add_samples_kernel(Source source, int step) {
  using Out = typename Source::Out;
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (x >= source.size.width) return;
  const std::ptrdiff_t stride = along == Along::rows ? step : step * source.input_pitch;
  for (int y = static_cast<int>(blockIdx.y); y < source.size.height;
       y += static_cast<int>(gridDim.y)) {
    const int before = (along == Along::rows ? x : y) / step;
    const auto* const last = source.input_row(y) + x;
    Out sum{};
    FACESAT_UNROLL
    for (int k = 0; k < samples; ++k)
      if (k <= before) sum += Source::value(last[-k * stride]);
    source.row(y)[x] = sum;
  }
}

template <class Source>
void add_samples(const Source& source, Along along, int step, StreamHandle stream) {
  // On the host, where a block is expensive, those of large pictures loop over the rows.
  const int rows = source.size.height;
  const dim3 grid(divide_up(source.size.width, threads), on_host && rows > 64 ? 4 : rows);
  if (along == Along::rows)
    FACESAT_LAUNCH((add_samples_kernel<Along::rows, Source>), grid, dim3(threads), stream, source,
                   step);
  else
    FACESAT_LAUNCH((add_samples_kernel<Along::columns, Source>), grid, dim3(threads), stream,
                   source, step);
}

// The number of passes until sums span `length` elements.
constexpr int passes_along(int length) {
  int passes = 0;
  for (std::int64_t reached = 1; reached < length; reached *= samples) ++passes;
  return passes;
}

// Enqueues all passes from the picture to the table. The last pass writes the table; the passes
// before it alternate between workspace and table.
template <class Pass>
void enqueue_table(const Pass& pass, void* workspace, StreamHandle stream) {
  using Out = typename Pass::Out;
  const Size size = pass.size;
  auto* const other = static_cast<Out*>(workspace);
  // There must be at least one pass along the rows, because the first pass reads the picture.
  const int along_rows = passes_along(size.width) > 0 ? passes_along(size.width) : 1;
  const int passes = along_rows + passes_along(size.height);
  int step = 1;
  for (int i = 0; i < passes; ++i, step *= samples) {
    if (i == along_rows) step = 1;
    const Along along = i < along_rows ? Along::rows : Along::columns;
    const bool ends_in_table = (passes - i) % 2 == 1;
    Out* const to = ends_in_table ? pass.table : other;
    const std::ptrdiff_t pitch = ends_in_table ? pass.pitch : size.width;
    if (i == 0) {
      Pass first = pass;
      first.table = to;
      first.pitch = pitch;
      add_samples(first, along, step, stream);
    } else {
      const Out* const from = ends_in_table ? other : pass.table;
      const std::ptrdiff_t from_pitch = ends_in_table ? size.width : pass.pitch;
      add_samples(gpu::Pass<Out, Out, false>{size, from, from_pitch, to, pitch}, along, step,
                  stream);
    }
  }
}

void enqueue(const SatTask& task, void* workspace, StreamHandle stream) {
  for_each_table(task,
                 [&]<class Pass>(const Pass& pass) { enqueue_table(pass, workspace, stream); });
}

std::size_t workspace_bytes(SatType type, Size size) {
  return static_cast<std::size_t>(size.area()) * info_of(type).table_bytes;
}

}  // namespace

const SatAlgorithm hensley_2005_recursive_doubling{
    .id = "hensley_2005_recursive_doubling",
    .title = "Recursive doubling, 16 samples per pass",
    .source =
        "Hensley, Scheuermann, Coombe, Singh, Lastra: Fast Summed-Area Table Generation and its "
        "Applications, Computer Graphics Forum 2005",
    .year = 2005,
    .launches = 6,  // this and the next two numbers are right for sides from 257 to 4096
    .reads = 6,
    .writes = 6,
    .workspace_bytes = workspace_bytes,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
