// LBP features, compiled for one layout of the integral image in memory (Layout in
// core/cpu/tile.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "core/cascade.hpp"
#include "core/cpu/compiled.hpp"
#include "core/rules.hpp"

namespace facesat::cpu {

// The node test of an LBP cascade.
struct LbpTest {
  std::int32_t offset[4][4];  // corners of 3 x 3 equal blocks
  std::array<std::uint32_t, 8> subset;

  LbpTest(const Cascade& cascade, const Node& node, const Layout& layout) : subset(node.subset) {
    const Rect& block = cascade.lbp[node.feature].block;
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 4; ++i)
        offset[j][i] = layout.offset(block.x + i * block.width, block.y + j * block.height);
  }

  static int cost(const Cascade&, const Node&) { return 0; }  // all take the same time

  bool goes_left(const std::uint32_t* window, float) const {
    const unsigned c = code(window);
    return subset[c >> 5] >> (c & 31) & 1;
  }

  // A bit for each block around the centre, in the order of rules::lbp_blocks.
  unsigned code(const std::uint32_t* window) const {
    const auto block = [&](rules::Corner p) {
      return window[offset[p.y][p.x]] - window[offset[p.y][p.x + 1]] -
             window[offset[p.y + 1][p.x]] + window[offset[p.y + 1][p.x + 1]];
    };
    const std::uint32_t centre = block({1, 1});
    unsigned result = 0;
    for (const rules::Corner& p : rules::lbp_blocks)
      result = result << 1 | static_cast<unsigned>(block(p) >= centre);
    return result;
  }
};

// LBP features need no normalisation, and no window is rejected for low variance.
struct LbpNormalisation {
  LbpNormalisation(Size, const Layout&) {}
  float inverse_deviation(const std::uint32_t*, std::ptrdiff_t) const { return 1; }
};

using CompiledLbp = Compiled<LbpTest, LbpNormalisation>;

}  // namespace facesat::cpu
