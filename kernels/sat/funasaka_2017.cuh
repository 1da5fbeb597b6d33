// The SAT of Funasaka, Nakano, Ito 2017 as a task array: a task is a tile of 32 x 32 elements,
// which a warp computes. Section V-B of the paper, figure 7.
#pragma once

#include "kernels/device/warp.cuh"
#include "kernels/sat/pass.cuh"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {

// How a row of tiles learns what it needs of the row above: by words with values and state, or by a
// counter per row or a flag per tile that say when it can be read in the table.
enum class HandOver { words, counters, flags };
// What a tile begins with: the sums to its left, which make row sums those of the whole picture,
// or, as in the paper, nothing; then the three edges are added to the table of the tile alone.
enum class EdgesAdded { before_sums, after_sums };

template <class Pass, HandOver hand_over, EdgesAdded edges_added = EdgesAdded::before_sums>
struct SatTiles {
  using Out = typename Pass::Out;
  static constexpr bool hands_on_words = hand_over == HandOver::words;
  static constexpr bool has_flags = hand_over == HandOver::flags;
  static constexpr int threads = 32, side = 32;
  static constexpr std::array edges{TaskEdge{1, 0}};
  using Element = Out;
  static constexpr int pitch = side + 1;  // rows and columns without bank conflicts
  static constexpr int shared_elements = side * pitch;
  struct Carried {
    // Of the lane's row: the sum of all pixels in the tiles to the left; if edges are added after
    // sums, the last element of the table to the left.
    Out left{};
    Out corner{};  // the last element of the table above and to the left, if edges are added after
  };
  struct Prepared {
    Out values[side];  // of the lane's column
  };

  Pass pass;
  HandedOn<Out, true> last_rows;  // of each row of tiles but the last; unused without words
  int rows = divide_up(pass.size.height, side), columns = divide_up(pass.size.width, side);

  // `words`: table_bytes() bytes.
  static SatTiles of(const Pass& pass, void* words) {
    return {pass, {static_cast<Word*>(words), handed_on(pass.size)}};
  }
  static std::size_t table_bytes(Size size) {
    return hands_on_words ? HandedOn<Out, true>::bytes(handed_on(size)) : 0;
  }
  static std::ptrdiff_t handed_on(Size size) {
    return static_cast<std::ptrdiff_t>(divide_up(size.height, side) - 1) * size.width;
  }

  template <class Team>
  __device__ Prepared prepare(int i, int j, const Team& team) const {
    Prepared prepared;
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k)
      prepared.values[k] = pass.value_at(side * j + team.rank, side * i + k);
    return prepared;
  }

  template <class Team>
  __device__ void perform(int i, int j, const Prepared& prepared, Carried& carried,
                          const Team& team) const {
    if constexpr (edges_added == EdgesAdded::after_sums)
      return perform_alone(i, j, prepared, carried, team);
    const int lane = team.rank, x = side * j + lane, y = side * i;
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) team[k * pitch + lane] = prepared.values[k];
    team.sync();
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) {  // along the lane's row
      carried.left += team[lane * pitch + k];
      team[lane * pitch + k] = carried.left;
    }
    team.sync();
    Out sums[side];
    sum_column(sums, team);
    if (x >= pass.size.width) return;
    const Out above = i > 0 ? row_above(i, x, team) : Out{};
    if (hands_on_words && i + 1 < rows)  // first of all, because the row below waits for it
      last_rows.write(team, static_cast<std::ptrdiff_t>(i) * pass.size.width + x,
                      above + sums[side - 1]);
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k)
      if (pass.has(x, y + k)) pass.row(y + k)[x] = above + sums[k];
  }

 private:
  // Down the lane's column.
  template <class Team>
  __device__ __forceinline__ void sum_column(Out (&sums)[side], const Team& team) const {
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) {
      sums[k] = team[k * pitch + team.rank];
      if (k > 0) sums[k] += sums[k - 1];
    }
  }

  // As in the paper: the table of the tile alone, plus the row above and the column to the left,
  // minus the corner.
  template <class Team>
  __device__ void perform_alone(int i, int j, const Prepared& prepared, Carried& carried,
                                const Team& team) const {
    const int lane = team.rank, x = side * j + lane, y = side * i;
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) team[k * pitch + lane] = prepared.values[k];
    team.sync();
    Out row{};
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) team[lane * pitch + k] = row += team[lane * pitch + k];
    team.sync();
    Out sums[side];
    sum_column(sums, team);
    const Out above = i > 0 && x < pass.size.width ? row_above(i, x, team) : Out{};
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) {
      sums[k] += above + __shfl_sync(full_warp, carried.left, k) - carried.corner;
      if (lane == side - 1) team[k * pitch + side - 1] = sums[k];
    }
    team.sync();
    carried.left = team[lane * pitch + side - 1];
    carried.corner = __shfl_sync(full_warp, above, side - 1);
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k)
      if (pass.has(x, y + k)) pass.row(y + k)[x] = sums[k];
  }

  template <class Team>
  __device__ Out row_above(int i, int x, const Team& team) const {
    if constexpr (hands_on_words)
      return last_rows.read(team, static_cast<std::ptrdiff_t>(i - 1) * pass.size.width + x);
    else
      return pass.row(side * i - 1)[x];
  }
};

}  // namespace facesat::gpu
