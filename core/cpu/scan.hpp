// The order in which windows are visited, and OpenCV's skip rule; shared by the evaluators.
#pragma once

#include <algorithm>

#include "core/cpu/evaluate.hpp"

namespace facesat::cpu {

// What a cascade says of one window.
struct Verdict {
  static constexpr int flat = -1;
  int stages_passed = 0;  // flat: no contrast; rejected, but not by the first stage
  double score = 0;       // sum of the last stage evaluated
};

// Table elements left of and above the window (x, y): offsets of corners count from here.
struct Corner {
  const std::uint32_t *sum, *squared_sum, *tilted;

  static Corner at(const Tables& t, const Level& level, int x, int y) {
    const int column = level.x + x - 1, row = level.y + y - 1;
    return {t.sum.row(row) + column, t.squared_sum.row(row) + column,
            t.tilted.data ? t.tilted.row(row) + column : nullptr};
  }
};

// Offset, from a Corner, of the corner at (x, y) of the window.
inline std::int32_t corner_offset(int x, int y, std::ptrdiff_t pitch) {
  return static_cast<std::int32_t>(y * pitch + x);
}

// An evaluator from a Cascade compiled to `Compiled`, which has
// Verdict Compiled::run(const Corner&) const, int Compiled::stage_count() const, and
// Size Compiled::window() const.
template <class Compiled>
class ScanningEvaluator final : public Evaluator {
 public:
  template <class... Args>
  explicit ScanningEvaluator(Args&&... args) : compiled_(args...) {}

  // OpenCV: a window that the first stage rejects lets the next one be skipped.
  void scan(const Tables& tables, const Level& level, int index, Scan scan, int first_row,
            int last_row, std::vector<Window>& windows) const override {
    const int after_rejection = scan == Scan::opencv ? 2 : 1;
    for (int row = first_row; row < last_row; ++row) {
      const int y = row * level.step;
      for (int column = 0; column < level.grid.width;) {
        const int x = column * level.step;
        const Verdict verdict = compiled_.run(Corner::at(tables, level, x, y));
        if (verdict.stages_passed == compiled_.stage_count())
          windows.push_back(
              {index, x, y, verdict.score, window_in_image(level, compiled_.window(), x, y)});
        column += verdict.stages_passed == 0 ? after_rejection : 1;
      }
    }
  }

  void depths(const Tables& tables, const Level& level, int row,
              std::uint32_t* depths) const override {
    for (int column = 0; column < level.grid.width; ++column) {
      const Corner corner = Corner::at(tables, level, column * level.step, row * level.step);
      depths[column] = static_cast<std::uint32_t>(std::max(0, compiled_.run(corner).stages_passed));
    }
  }

 private:
  Compiled compiled_;
};

}  // namespace facesat::cpu
