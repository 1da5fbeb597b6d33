// The SAT of Funasaka, Nakano, Ito 2017 as a task array: a task is a tile of 32 x 32 elements,
// which a warp computes. Section V-B of the paper, figure 7.
#pragma once

#include "kernels/sat/pass.cuh"
#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {

// `by_words`: rows of tiles hand on their last rows in words with their state; otherwise, the row
// below reads them in the table.
template <class Pass, bool by_words>
struct SatTiles {
  using Out = typename Pass::Out;
  static constexpr bool hands_on_words = by_words;
  static constexpr int threads = 32, side = 32;
  static constexpr std::array edges{TaskEdge{1, 0}};
  using Element = Out;
  static constexpr int pitch = side + 1;  // rows and columns without bank conflicts
  static constexpr int shared_elements = side * pitch;
  struct Carried {
    Out left{};  // of the lane's row: the sum of all pixels in the tiles to the left
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
    return by_words ? HandedOn<Out, true>::bytes(handed_on(size)) : 0;
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
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k) {  // down the lane's column
      sums[k] = team[k * pitch + lane];
      if (k > 0) sums[k] += sums[k - 1];
    }
    if (x >= pass.size.width) return;
    const Out above = i > 0 ? row_above(i, x, team) : Out{};
    if (by_words && i + 1 < rows)
      last_rows.write(team, static_cast<std::ptrdiff_t>(i) * pass.size.width + x,
                      above + sums[side - 1]);
    FACESAT_UNROLL
    for (int k = 0; k < side; ++k)
      if (pass.has(x, y + k)) pass.row(y + k)[x] = above + sums[k];
  }

 private:
  template <class Team>
  __device__ Out row_above(int i, int x, const Team& team) const {
    if constexpr (by_words)
      return last_rows.read(team, static_cast<std::ptrdiff_t>(i - 1) * pass.size.width + x);
    else
      return pass.row(side * i - 1)[x];
  }
};

}  // namespace facesat::gpu
