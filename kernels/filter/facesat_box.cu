// Box filter in one pass over the picture: sums of columns slide down, prefix sums of rows give the
// windows.
//
// Idea: a warp marches down a strip of the picture, and each lane keeps the sums of its columns
//   over the window's rows: a row enters, another one leaves. For each row, the warp scans its
//   columns' sums; a window is the difference of two prefix sums, whatever its width. Nothing but
//   the picture and the result touches memory, and the work per pixel does not depend on the
//   radius, except for what strips have in common.
// Shapes: each lane has 8 columns of 8 bits, whose sums are pairs of 16 bits, or 4 of 32 bits.
//   Strips of 32 lanes have a halo of 16 or 32 columns on either side, of which a window needs the
//   radius. For results, lanes take adjacent pixels, 32 at a time: prefix sums go through shared
//   memory, where the distance between a lane's two of them is the same for all lanes, so that
//   addresses are constants and no banks conflict. The first and the last strip begin and end where
//   the picture does; windows that reach beyond it are combinations of the same prefix sums
//   (filters/interval.hpp). Four warps of a block lie below each other: they find the rows that
//   they have in common in the L1 cache.
// Reads per pixel: 2 (rows enter and leave), times strip / (strip - 2 halo), times
//   1 + radius / rows of a warp for the rows that enter first, which are read in whole batches.
// Launches: 1.
// Workspace: none.
// Source: ours; the sliding sums are those of M. J. McDonnell, "Box-filtering techniques", Computer
//   Graphics and Image Processing 1981.
#include <algorithm>

#include "filters/interval.hpp"
#include "kernels/device/warp.cuh"
#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int warps = 4;                // of a block
constexpr int greatest_radius = 31;     // beyond it, strips have too much in common
constexpr int wanted_warps = 132 * 25;  // of a launch, if there are enough pixels: measured
constexpr int batch = 4;                // rows that are computed together
constexpr int first_batch = 8;          // rows that are loaded together before the first result
constexpr int fewest_rows = 2 * batch;  // that a warp computes

// Columns of a lane.
template <class In>
constexpr int columns_of = sizeof(In) == 1 ? 8 : 4;

// A lane's elements of a row.
template <class In>
struct alignas(16) Elements {
  static constexpr int n = columns_of<In>;
  In v[n];
};

// The sums of a lane's columns.
template <class In, class Sum>
class ColumnSums {
 public:
  // A row enters and, if `leaving` is not null, another one leaves.
  __device__ __forceinline__ void slide(const Elements<In>& entering, const Elements<In>* leaving) {
    FACESAT_UNROLL
    for (int i = 0; i < Elements<In>::n; ++i)
      sums_[i] +=
          static_cast<Sum>(entering.v[i]) - (leaving ? static_cast<Sum>(leaving->v[i]) : Sum{});
  }
  __device__ __forceinline__ Sum operator[](int i) const { return sums_[i]; }

 private:
  Sum sums_[Elements<In>::n]{};
};

// Of bytes: two sums of 16 bits in a word. Halves never overflow, so that words can be added whole.
template <>
struct alignas(8) Elements<std::uint8_t> {
  static constexpr int n = columns_of<std::uint8_t>;
  std::uint32_t words[n / 4];

  __device__ __forceinline__ std::uint32_t even(int i) const { return words[i] & 0x00FF00FF; }
  __device__ __forceinline__ std::uint32_t odd(int i) const {
    return __byte_perm(words[i], 0, 0x4341);
  }
};
template <class Sum>
class ColumnSums<std::uint8_t, Sum> {
 public:
  __device__ __forceinline__ void slide(const Elements<std::uint8_t>& entering,
                                        const Elements<std::uint8_t>* leaving) {
    FACESAT_UNROLL
    for (int i = 0; i < 2; ++i) {
      even_[i] += entering.even(i) - (leaving ? leaving->even(i) : 0);
      odd_[i] += entering.odd(i) - (leaving ? leaving->odd(i) : 0);
    }
  }
  __device__ __forceinline__ Sum operator[](int i) const {
    const std::uint32_t pair = i % 2 ? odd_[i / 4] : even_[i / 4];
    return i % 4 < 2 ? pair & 0xFFFF : pair >> 16;
  }
  // The sum of column i, with that of the next row 16 bits higher.
  __device__ __forceinline__ std::uint32_t with_next_row(const ColumnSums& next, int i) const {
    const unsigned halves = i % 4 < 2 ? 0x5410 : 0x7632;
    return i % 2 ? __byte_perm(odd_[i / 4], next.odd_[i / 4], halves)
                 : __byte_perm(even_[i / 4], next.even_[i / 4], halves);
  }

 private:
  std::uint32_t even_[2]{}, odd_[2]{};
};

// Where a warp's strip lies.
enum class Where {
  inside,   // its columns and all rows that it needs lie within the picture
  at_edge,  // its columns do; windows and rows may reach beyond the edges
  anywhere  // its columns and rows may lie anywhere
};

// Where a lane's elements of a row come from.
template <class Pass, Where where>
class Columns {
 public:
  using In = typename Pass::In;
  static constexpr int n = columns_of<In>;

  // `first`: the lane's first column.
  __device__ Columns(const Pass& pass, int first)
      : pass_(pass), first_(first), pitch_(static_cast<unsigned>(pass.input_pitch)) {
    if constexpr (where == Where::anywhere) {
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i) sources_[i] = source_of(first + i, pass.size.width, pass.border);
    }
  }

  // Loads the rows from y on.
  template <int count>
  __device__ __forceinline__ void load(Elements<In> (&rows)[count], int y) const {
    if constexpr (where == Where::inside) {
      FACESAT_UNROLL
      for (int i = 0; i < count; ++i) rows[i] = load_row(y + i);
    } else {
      // Each lane finds the source of one row; that takes less code than to do it for all.
      const int source =
          source_of(y + static_cast<int>(threadIdx.x) % count, pass_.size.height, pass_.border);
      FACESAT_UNROLL
      for (int i = 0; i < count; ++i) {
        const int from = __shfl_sync(full_warp, source, i);
        rows[i] = load_row(from < 0 ? 0 : from);
        if (from < 0) rows[i] = {};
      }
    }
  }

 private:
  __device__ __forceinline__ Elements<In> load_row(int y) const {
    const In* const row = pass_.input + std::uint64_t{static_cast<unsigned>(y)} * pitch_;
    Elements<In> elements{};
    if constexpr (where != Where::anywhere) {
      elements = *reinterpret_cast<const Elements<In>*>(row + first_);
      // Whatever lies past the end of the row has no part in windows. Integers may be added and
      // subtracted again; real numbers may not.
      if constexpr (where == Where::at_edge && std::is_same_v<In, float>) {
        FACESAT_UNROLL
        for (int i = 0; i < n; ++i)
          if (first_ + i >= pass_.size.width) elements.v[i] = 0;
      }
    } else {
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i) {
        const In element = sources_[i] == no_source ? In{} : row[sources_[i]];
        if constexpr (sizeof(In) == 1)
          elements.words[i / 4] |= static_cast<std::uint32_t>(element) << 8 * (i % 4);
        else
          elements.v[i] = element;
      }
    }
    return elements;
  }

  const Pass& pass_;
  int first_;
  unsigned pitch_;
  int sources_[where == Where::anywhere ? n : 1];
};

// The rounded quotient of a window's sum and its area d: exact if d^2 * 255.5 < 2^32, because then
// the multiplier's error, less than 1 / 2^32 of the sum, does not reach the next multiple of 1 / d.
struct SmallQuotient {
  std::uint32_t half, multiplier;

  static bool is_exact_for(std::int64_t area) { return area * area < 16809983; }
  __device__ __forceinline__ std::uint32_t operator()(std::uint32_t sum) const {
    return __umulhi(sum + half, multiplier);
  }
};

// The plan of a launch, the same for all threads.
struct Plan {
  int strips, edge_strips;  // all; the first and the last one
  int rows, edge_rows;      // that a warp computes; fewer in the first and the last strip, where
                            // special windows take time
  int edge_blocks;          // of each of these two strips, which come first
  bool is_anywhere;         // Where::anywhere is needed
  SmallQuotient quotient;
};

constexpr int halo_of(int radius) {
  return radius < 16 ? 16 : 32;
}

// A strip has results for `groups` times 32 adjacent pixels.
template <class In, int halo>
constexpr int groups_of = columns_of<In> - halo / 16;

// The first of the columns of a strip, and of those that it has results for.
struct Strip {
  int left, first;
  int special;  // the group of results whose windows reach beyond an edge; or -1
};

template <class In, int halo>
__device__ __forceinline__ Strip strip_of(const Plan& plan, int index, int width) {
  constexpr int columns = 32 * columns_of<In>, groups = groups_of<In, halo>, results = 32 * groups;
  const int first = index * results;
  if (plan.is_anywhere) return {first - halo, first, -1};
  if (index == 0) return {0, 0, 0};
  // Where the halo would reach beyond the picture, the strip ends where the picture does; so do the
  // results of the last one.
  if (first + results + halo > width) {
    const int end = divide_up(width, columns_of<In>) * columns_of<In>;
    return {end - columns, min(first, width - results), groups - 1};
  }
  return {first - halo, first, -1};
}

// The windows of one group of results, as combinations of the strip's prefix sums.
template <class Sum>
class SpecialWindows {
 public:
  // For the window around column x.
  __device__ SpecialWindows(int x, int radius, int width, Border border, int left) {
    const PrefixCombination sum = interval_sum(x - radius, x + radius + 1, width, border);
    FACESAT_UNROLL
    for (int i = 0; i < PrefixCombination::terms; ++i) {
      // The strip's prefix sums lack what lies before it, which does not matter, because the
      // factors of those that are used at its right edge have a sum of 0. Prefix sum 0 is 0.
      const int place = sum.places[i] - left;
      const bool counts = sum.factors[i] != 0 && place > 0;
      places_[i] = counts ? place - 1 : 0;
      factors_[i] = counts ? sum.factors[i] : 0;
    }
  }

  template <class Prefix>
  __device__ __forceinline__ Sum operator()(Prefix prefix) const {
    Sum sum{};
    FACESAT_UNROLL
    for (int i = 0; i < PrefixCombination::terms; ++i)
      sum += static_cast<Sum>(factors_[i]) * prefix(places_[i]);
    return sum;
  }

 private:
  int places_[PrefixCombination::terms], factors_[PrefixCombination::terms];
};

// How a kernel computes; each has its own, because a smaller one starts faster.
template <bool is_exact_, int halo_, int together_, bool is_anywhere_>
struct Method {
  static constexpr bool is_exact = is_exact_;  // SmallQuotient is
  static constexpr int halo = halo_;
  // Rows in a word. If windows have sums of 16 bits, prefix sums of two rows, one 16 bits higher
  // than the other, can be added together: all operations are modulo 2^32, and the carries from the
  // lower row disappear in the difference of two of them.
  static constexpr int together = together_;
  static constexpr bool is_anywhere = is_anywhere_;  // as in Plan
};

template <class Method, class Pass>
__device__ __forceinline__ typename Pass::Out result_of(const Pass& pass, const Plan& plan,
                                                        typename Pass::Sum sum) {
  if constexpr (Method::is_exact)
    return static_cast<typename Pass::Out>(plan.quotient(sum));
  else
    return pass.result(sum);
}

// Marches down a strip, from row `top` to `bottom`. The warp's prefix sums begin at `own`. Rows
// come in batches, whose loads are under way while the batch before is computed, and whose scans do
// not wait for each other.
template <Where where, class Method, class Pass>
__device__ __forceinline__ void march(const Pass& pass, const Plan& plan, const Strip& strip,
                                      int top, int bottom, int own) {
  using In = typename Pass::In;
  using Sum = typename Pass::Sum;
  using Row = Elements<In>;
  constexpr int n = columns_of<In>, pitch = 32 * n, groups = groups_of<In, Method::halo>;
  constexpr int together = Method::together, words = batch / together;
  const DynamicShared<Sum> prefix_sums;
  const int lane = static_cast<int>(threadIdx.x);
  const auto [rx, ry] = pass.radius;
  const Columns<Pass, where> columns(pass, strip.left + lane * n);
  ColumnSums<In, Sum> sums;
  Row entering[batch], leaving[batch];
  columns.load(entering, top + ry);
  columns.load(leaving, top - ry - 1);
  leaving[0] = {};  // no row leaves before the first result
  for (int y = top - ry; y < top + ry; y += first_batch) {
    Row rows[first_batch];
    columns.load(rows, y);
    FACESAT_UNROLL
    for (int i = 0; i < first_batch; ++i)
      if (y + i < top + ry) sums.slide(rows[i], nullptr);
  }

  const int x = strip.first + lane;  // of the lane's first result
  const SpecialWindows<Sum> special(x + 32 * strip.special, where == Where::at_edge ? rx : 0,
                                    pass.size.width, pass.border, strip.left);
  typename Pass::Out* to = pass.output + top * pass.output_pitch + x;
  for (int y = top; y < bottom; y += batch) {
    Row next_entering[batch], next_leaving[batch];
    columns.load(next_entering, y + ry + batch);
    columns.load(next_leaving, y - ry + batch - 1);
    Sum up_to[words][n];  // prefix sums of the lane's columns
    FACESAT_UNROLL
    for (int j = 0; j < words; ++j) {
      sums.slide(entering[j * together], &leaving[j * together]);
      ColumnSums<In, Sum> next = sums;
      if constexpr (together == 2) next.slide(entering[j * 2 + 1], &leaving[j * 2 + 1]);
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i) {
        Sum sum;
        if constexpr (together == 2)
          sum = sums.with_next_row(next, i);
        else
          sum = sums[i];
        up_to[j][i] = (i > 0 ? up_to[j][i - 1] : Sum{}) + sum;
      }
      sums = next;
    }
    FACESAT_UNROLL
    for (int j = 0; j < words; ++j) {
      const Sum before = warp_inclusive_scan(up_to[j][n - 1]) - up_to[j][n - 1];
      FACESAT_UNROLL
      for (int i = 0; i < n; ++i)
        prefix_sums[own + j * pitch + lane * n + i] = before + up_to[j][i];
    }
    __syncwarp();
    // Where the window's last column is, and the one before its first.
    const int last = own + x - strip.left + rx, before_first = last - pass.radius.columns();
    const bool is_whole = y + batch <= bottom;
    FACESAT_UNROLL
    for (int j = 0; j < words; ++j, to += together * pass.output_pitch) {
      if (!is_whole && y + j * together >= bottom) break;
      const bool has_next = together == 2 && (is_whole || y + j * together + 1 < bottom);
      const auto store = [&](int i, Sum window) {
        if constexpr (together == 2) {
          to[32 * i] = result_of<Method>(pass, plan, window & 0xFFFF);
          if (has_next)
            to[32 * i + pass.output_pitch] = result_of<Method>(pass, plan, window >> 16);
        } else {
          to[32 * i] = result_of<Method>(pass, plan, window);
        }
      };
      FACESAT_UNROLL
      for (int i = 0; i < groups; ++i) {
        if (where == Where::anywhere && x + 32 * i >= pass.size.width) break;
        if (where == Where::at_edge && i == strip.special) continue;
        const int place = j * pitch + 32 * i;
        store(i, prefix_sums[last + place] - prefix_sums[before_first + place]);
      }
      if (where == Where::at_edge && strip.special >= 0)
        store(strip.special,
              special([&](int k) -> Sum { return prefix_sums[own + j * pitch + k]; }));
    }
    __syncwarp();  // the next batch overwrites the prefix sums
    FACESAT_UNROLL
    for (int i = 0; i < batch; ++i) {
      entering[i] = next_entering[i];
      leaving[i] = next_leaving[i];
    }
  }
}

template <class Method, class Pass>
__global__ void __launch_bounds__(32 * warps) box_kernel(Pass pass, Plan plan) {
  using In = typename Pass::In;
  const int warp = static_cast<int>(threadIdx.y);
  const int own = warp * (batch / Method::together) * 32 * columns_of<In>;
  const int block = static_cast<int>(blockIdx.x),
            inner = block - plan.edge_strips * plan.edge_blocks;
  const bool is_edge = inner < 0;
  const int index =
      is_edge ? block % plan.edge_strips * (plan.strips - 1) : 1 + inner % (plan.strips - 2);
  // From top to bottom, but the last one first: those at the edges take longer, and blocks that
  // begin late must be short.
  const int chunks = divide_up(pass.size.height, plan.rows * warps);
  const int chunk =
      is_edge ? block / plan.edge_strips : (inner / (plan.strips - 2) + chunks - 1) % chunks;
  const Strip strip = strip_of<In, Method::halo>(plan, index, pass.size.width);
  const int rows = is_edge ? plan.edge_rows : plan.rows;
  const int top = (chunk * warps + warp) * rows;
  const int bottom = min(top + rows, pass.size.height);
  if (top >= bottom) return;
  if constexpr (Method::is_anywhere)
    march<Where::anywhere, Method>(pass, plan, strip, top, bottom, own);
  else if (strip.special < 0 && top > pass.radius.y &&
           bottom + pass.radius.y + 2 * first_batch <= pass.size.height)
    march<Where::inside, Method>(pass, plan, strip, top, bottom, own);
  else
    march<Where::at_edge, Method>(pass, plan, strip, top, bottom, own);
}

// Pixels that a strip has results for.
template <class In>
int width_of_results(Radius radius) {
  return 32 * columns_of<In> - 2 * halo_of(radius.x);
}

template <class In>
Plan plan_of(const FilterTask& task) {
  const int strips = divide_up(task.size.width, width_of_results<In>(task.mask.radius));
  const int rows =
      std::max(fewest_rows, divide_up(task.size.height * strips, wanted_warps * batch) * batch);
  const auto area = static_cast<std::uint32_t>(task.mask.radius.area());
  const std::uint64_t multiplier = ((std::uint64_t{1} << 32) + area - 1) / area;
  // Other strips need columns that are far away, or both edges at once.
  const bool is_anywhere =
      task.border == Border::wrap || task.size.width < 32 * columns_of<In> || strips < 2;
  const int edge_rows = divide_up(rows, 2 * batch) * batch;
  Plan plan{};
  plan.strips = strips;
  plan.edge_strips = std::min(strips, 2);
  plan.rows = rows;
  plan.edge_rows = edge_rows;
  plan.edge_blocks = divide_up(task.size.height, edge_rows * warps);
  plan.is_anywhere = is_anywhere;
  plan.quotient = {area / 2, static_cast<std::uint32_t>(multiplier)};
  return plan;
}

std::string why_no_box(const FilterTask& task) {
  return std::max(task.mask.radius.x, task.mask.radius.y) > greatest_radius ? "radii up to 31" : "";
}

double reads(const FilterTask& task) {
  double result = 0;
  visit_types(task.type, [&]<class In, class Out>(In, Out) {
    const double strip = 32 * columns_of<In>;
    result = 2 * (1.0 + static_cast<double>(task.mask.radius.y) / plan_of<In>(task).rows) * strip /
             width_of_results<In>(task.mask.radius);
  });
  return result;
}

template <class Method, class Pass>
void launch(const Pass& pass, const Plan& plan, StreamHandle stream) {
  using In = typename Pass::In;
  const int inner = std::max(0, plan.strips - 2) * divide_up(pass.size.height, plan.rows * warps);
  const dim3 grid(static_cast<unsigned>(plan.edge_strips * plan.edge_blocks + inner));
  constexpr std::size_t bytes =
      warps * (batch / Method::together) * 32 * columns_of<In> * sizeof(typename Pass::Sum);
  FACESAT_LAUNCH_SHARED((box_kernel<Method, Pass>), grid, dim3(32, warps), bytes, stream, pass,
                        plan);
}

template <bool is_exact, class Pass>
void launch_exact(const Pass& pass, const FilterTask& task, StreamHandle stream) {
  using In = typename Pass::In;
  const Plan plan = plan_of<In>(task);
  const auto launch_for = [&]<int halo, int together>(std::integral_constant<int, halo>,
                                                      std::integral_constant<int, together>) {
    if (plan.is_anywhere)
      launch<Method<is_exact, halo, together, true>>(pass, plan, stream);
    else
      launch<Method<is_exact, halo, together, false>>(pass, plan, stream);
  };
  constexpr std::integral_constant<int, 1> one;
  if (halo_of(task.mask.radius.x) == 32) return launch_for(std::integral_constant<int, 32>(), one);
  if constexpr (sizeof(In) == 1)
    if (task.mask.radius.area() * 255 < 65536)
      return launch_for(std::integral_constant<int, 16>(), std::integral_constant<int, 2>());
  launch_for(std::integral_constant<int, 16>(), one);
}

void enqueue(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const std::int64_t area = task.mask.radius.area();
    if constexpr (sizeof(typename Pass::Out) == 1)
      if (task.mask.divisor == static_cast<double>(area) && area > 1 &&
          SmallQuotient::is_exact_for(area))
        return launch_exact<true>(pass, task, stream);
    launch_exact<false>(pass, task, stream);
  });
}

}  // namespace

const FilterAlgorithm facesat_box{
    .id = "facesat_box",
    .title = "One pass: column sums slide, prefix sums of rows",
    .source = "ours; McDonnell 1981",
    .takes = MaskKind::ones,
    .why_not = why_no_box,
    .reads = reads,
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
