// Small cascades for tests: handwritten files, one of each form, and random models.
#pragma once

#include <string>

#include "core/cascade.hpp"

namespace facesat::test {

// Valid files, one element a line. Each has a window of 12 x 10 pixels.
std::string stump_cascade();  // two stages; upright, three-part and tilted features
std::string tree_cascade();   // a tree of two nodes and one of one
std::string lbp_cascade();
std::string old_cascade();  // "opencv-haar-classifier", with a tree of two nodes

struct CascadeShape {
  FeatureKind kind = FeatureKind::haar;
  bool tilted = false;  // every second feature
  int max_nodes = 1;    // of a tree
};

// Some stages, most of whose windows pass on; the window has random sides from 8 to 15.
Cascade random_cascade(unsigned seed, const CascadeShape& shape);

// One stage of one stump: the mean of the window's left half against that of its right half.
// Windows that are darker to the left give `left`; a stage passes that is not below `threshold`.
Cascade half_cascade(Size window, float left, float right, float threshold);

}  // namespace facesat::test
