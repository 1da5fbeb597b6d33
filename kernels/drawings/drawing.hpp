// Drawings of algorithms from what their kernels did (recording.hpp): pictures in SVG that consist
// of rectangles, lines and texts, each in a line of its own.
#pragma once

#include <string>
#include <vector>

#include "kernels/drawings/recording.hpp"

namespace facesat::drawings {

// What each launch reads and writes. One block of it is shown in strong colours, all others in pale
// ones. Of many launches, some are drawn.
std::string draw_memory(const std::vector<Buffer>& buffers, const std::vector<Launch>& launches);

// How values flow between the first eight elements or lanes, from top to bottom, in the launch with
// the most such flow, of equal ones the last; empty if there is none. Steps that repeat an earlier
// one are left out.
std::string draw_flow(const std::vector<std::vector<Flow>>& launches);

// Which lane of a warp meets which bank of shared memory, in the second write and the second read
// of all accesses (the first ones begin at bank 0 in any arrangement), and how many different words
// lie in a bank at most.
std::string draw_banks(const std::vector<WarpAccess>& accesses);

}  // namespace facesat::drawings
