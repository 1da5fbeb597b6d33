// The edit distance of two strings (V. Levenshtein 1966) as a task array: an example.
//
// Entry (y, x) of the table is the distance of the first y characters of `a` from the first x of
// `b`. A task fills 32 x 32 entries: each lane has a row and lags the lane before it by a column,
// so that it gets the entry above from the lane before, which has just computed it.
#pragma once

#include "kernels/tasks/task_array.cuh"

namespace facesat::gpu {

struct EditDistance {
  static constexpr int threads = 32;
  static constexpr std::array edges{TaskEdge{1, 0}};  // the task above
  using Element = int;
  static constexpr int shared_elements = 0;
  struct Carried {
    int left = 0, corner = 0;  // the entries to the left, and to the left of the one above
  };

  const char *a, *b;  // not empty, in device memory
  int a_length, b_length;
  int* bottom;    // the last row of entries of each row of tasks: rows * b_length
  int* distance;  // the result
  int rows = divide_up(a_length, 32), columns = divide_up(b_length, 32);

  template <class Team>
  __device__ void perform(int i, int j, Carried& carried, const Team& team) const {
    const int y = 32 * i + team.rank + 1;
    const char own = y <= a_length ? a[y - 1] : '\0';
    int* const last_row = bottom + static_cast<std::ptrdiff_t>(i) * b_length;
    if (j == 0) carried = {y, y - 1};
    for (int step = 0; step < 63; ++step) {
      const int column = step - team.rank, x = 32 * j + column + 1;
      int above = __shfl_up_sync(0xFFFFFFFFu, carried.left, 1);
      if (column < 0 || column > 31 || x > b_length) continue;
      if (team.rank == 0) above = i > 0 ? last_row[x - 1 - b_length] : x;
      const int replaced = carried.corner + (own != b[x - 1] ? 1 : 0);
      carried = {min(min(above, carried.left) + 1, replaced), above};
      if (team.rank == 31) last_row[x - 1] = carried.left;
      if (y == a_length && x == b_length) *distance = carried.left;
    }
  }
};

}  // namespace facesat::gpu
