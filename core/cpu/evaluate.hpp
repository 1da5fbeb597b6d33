// tables -> windows: the cascade, compiled for the pitch of the tables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend.hpp"
#include "core/cascade.hpp"
#include "core/image.hpp"
#include "core/pyramid.hpp"

namespace facesat::cpu {

// The tables of one atlas, all of one pitch. `tilted` may be empty if no feature is tilted.
struct Tables {
  View<const std::uint32_t> sum, squared_sum, tilted;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Appends the windows of grid rows first_row .. last_row - 1 of a level, in order. Rows are
  // independent: the skip rule never crosses them. `index` becomes Window::level.
  virtual void scan(const Tables& tables, const Level& level, int index, Scan scan, int first_row,
                    int last_row, std::vector<Window>& windows) const = 0;

  // For every position of a grid row, the number of stages passed (0 for flat windows too).
  virtual void depths(const Tables& tables, const Level& level, int row,
                      std::uint32_t* depths) const = 0;
};

// `cascade` is read only here. pitch: elements from one table row to the next.
std::unique_ptr<Evaluator> make_haar_evaluator(const Cascade& cascade, std::ptrdiff_t pitch);
std::unique_ptr<Evaluator> make_lbp_evaluator(const Cascade& cascade, std::ptrdiff_t pitch);

}  // namespace facesat::cpu
