// A cascade as the GPU evaluates it: features as offsets into a tile's patch of the table, leaves
// as fixed point numbers. Made on the host, without CUDA.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cascade.hpp"

namespace facesat::gpu {

// Windows of a tile: 32 columns of the grid, and some rows.
constexpr int tile_columns = 32, max_tile_rows = 32;

// Where the table elements that a tile's windows ask for lie in shared memory. At step 2 the even
// columns come first in a row and the odd ones after them, so that neighbouring windows always ask
// for neighbouring words. A second plane of the same layout holds the tilted table.
struct PatchLayout {
  int step = 1;
  int rows_of_windows = max_tile_rows;
  int columns = 0, rows = 0;  // table elements; the first row and column are those before pixel 0
  int pitch = 0;              // words from row to row
  int planes = 1;

  constexpr int plane_words() const { return rows * pitch; }
  constexpr int bytes() const { return planes * plane_words() * 4; }
  // From a window's first word (or from the patch's, for even x) to the element (x, y).
  constexpr int word(int x, int y) const {
    return y * pitch + (step == 1 ? x : x % 2 * (pitch / 2) + x / 2);
  }
};

// As many rows of windows as fit into `most_bytes`, at least one.
PatchLayout make_patch_layout(Size window, int step, int planes, int most_bytes);

// The kinds of Haar features. All but the last are sums of table elements with small whole
// coefficients, where every f32 operation of OpenCV is exact, so that integers give the same value.
enum class HaarKind : std::uint8_t {
  edge,     // two parts that share an edge: 6 corners
  line,     // two parts that share none: 8 corners
  quad,     // four quarters: 9 corners
  general,  // anything else: three rectangles and f32 weights, operation by operation
};
constexpr int haar_kinds = 4;

// Where a tree's decision leads: a child > 0 is that many nodes after the root; otherwise the walk
// ends with the leaf that many places after the tree's first, negated.
struct Branch {
  std::int16_t left, right;
  std::int32_t first_leaf;
};
static_assert(max_tree_nodes <= INT16_MAX, "children of the largest tree must fit into Branch");

// Offsets of corners are words of 16 bits.
constexpr int max_patch_bytes = 4 << 16;

// A decision on a Haar feature, and where it leads. Two loads of 16 bytes.
struct alignas(16) HaarNode {
  // Words from the window's first, two in each element, the first one below; general: an index.
  std::uint32_t corners[4];
  std::uint16_t last_corner;
  std::int8_t weight;  // of the second group of corners
  HaarKind kind;
  float threshold;
  union {
    std::int64_t gain;  // of stumps: left leaf - right leaf
    Branch branch;      // of trees
  };
};
static_assert(sizeof(HaarNode) == 32);

struct GeneralFeature {
  std::uint16_t corner[3][4];
  float weight[3];
};

struct alignas(16) LbpNode {
  std::uint32_t corners[4][2];  // of each row four, packed as above
  std::uint32_t subset[8];
  union {
    std::int64_t gain;
    Branch branch;
  };
};

// Haar stumps: nodes run[k] .. run[k + 1] - 1 are of kind k. LBP stumps: all are run[0] .. run[1]
// - 1. Trees: run[0] .. run[1] - 1 are indices into CompiledCascade::roots.
struct CompiledStage {
  std::int32_t run[haar_kinds + 1];
  std::int64_t base;       // stumps: the sum of all right leaves
  std::int64_t threshold;  // fixed point, rounded up: rejected if sum < threshold
  double threshold_f64;
};

struct CompiledCascade {
  enum class Form { haar_stumps, lbp_stumps, haar_trees, lbp_trees } form = Form::haar_stumps;
  // Fixed point: leaves are whole multiples of 2^-fraction_bits and every sum of f64 is exact, so
  // that integers, added in any order, decide the same. Otherwise f64 in the file's order.
  bool fixed_point = true;
  int fraction_bits = 0;

  std::vector<HaarNode> nodes;
  std::vector<GeneralFeature> general;
  std::vector<LbpNode> lbp_nodes;
  std::vector<std::int32_t> roots;   // of trees: their first nodes
  std::vector<std::int64_t> leaves;  // of trees; the bits of an f64 where fixed_point is false
  std::vector<CompiledStage> stages;
  std::vector<std::int32_t> stage_ends;  // past the last node of each stage

  // The area of the rectangle whose variance normalises a Haar window, and the least
  // area * squares - sum^2 of a window whose variance is high enough.
  std::int64_t normalised_area = 0, min_spread = 0;
};

CompiledCascade compile_cascade(const Cascade& cascade, const PatchLayout& layout);

// Of a sum as the GPU gives it.
double score_of(const CompiledCascade& cascade, std::int64_t sum);

}  // namespace facesat::gpu
