// How the warps of a block form teams, each of which has all windows and a part of a stage's trees.
#pragma once

#include "kernels/device/platform.hpp"

namespace facesat::gpu {

constexpr int warps = 8;  // of a block that evaluates a tile

// Teams of a given number of warps; made without divisions, which would take as long as a short
// stage. Sums that depend on the order of additions have one team only.
template <bool any_order>
struct Teams {
  int members;  // threads of a team
  int count;    // of teams; the warps of others have nothing to do
  int number;   // of the thread's team

  __device__ Teams(int team_warps, int thread) {
    static_assert(warps == 8);
    const int warp = thread / 32;
    members = 32 * team_warps;
    count = !any_order || team_warps > 4 ? 1 : team_warps > 2 ? 2 : 8 >> (team_warps - 1);
    number = warp;
    if (team_warps > 1)
      number = (warp >= team_warps) + (warp >= 2 * team_warps) + (warp >= 3 * team_warps);
  }
};

}  // namespace facesat::gpu
