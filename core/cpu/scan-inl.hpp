// The order in which the windows of a tile are evaluated. Included once for each instruction set.
//
// First leg: along each row, 64 windows at a time, one bit each; sixteen neighbours go through a
// stage together, as long as one of them is alive. Their corners are contiguous in memory.
// Further legs: survivors of the whole tile are gathered, sixteen by sixteen, so that no lane is
// lost to a window that is not there.
#if defined(FACESAT_CPU_SCAN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_SCAN_INL
#undef FACESAT_CPU_SCAN_INL
#else
#define FACESAT_CPU_SCAN_INL
#endif

#include <bit>

#include "core/cpu/compiled.hpp"
#include "core/cpu/gather-inl.hpp"
#include "core/cpu/vote-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

// OpenCV: a window that the first stage rejects lets the next one be skipped, which then rejects
// nothing. `rejected` has a bit for each of up to 64 neighbours, of which the first is skipped if
// `skip` is set. Returns those skipped; `skip` becomes that of the window behind the 64th.
//
// In a run of rejected windows every second one is skipped, and the window behind a run of odd
// length is. Adding the first bit of a run to it carries through all of it: so runs that begin at
// even places are told from the others.
inline std::uint64_t skipped_windows(std::uint64_t rejected, bool& skip) {
  constexpr std::uint64_t even = 0x5555555555555555u;
  const std::uint64_t first = skip;
  rejected &= ~first;
  const std::uint64_t starts = rejected & ~(rejected << 1);
  const std::uint64_t from_even = rejected & ~(rejected + (starts & even));
  const std::uint64_t from_odd = rejected & ~from_even;
  const std::uint64_t skipped = first | (from_even << 1 & ~even) | (from_odd << 1 & even);
  skip = (rejected & ~skipped) >> 63;
  return skipped;
}

template <class Features, class Compiled>
class TileScan {
 public:
  TileScan(const Compiled& cascade, const Tile& tile, EvaluationMemory& memory)
      : cascade_(cascade),
        trees_(cascade.trees(tile)),
        tile_(tile),
        candidates_(memory.candidates),
        patch_(memory.patch) {
    candidates_.clear();
  }

  void run(bool skip_rule, std::uint8_t* skips, std::vector<Candidate>& windows) {
    for (int row = 0; row < tile_.grid.height; ++row) {
      bool skip = skip_rule && skips[row];
      for (int column = 0; column < tile_.grid.width; column += 64)
        scan_word(row, column, skip_rule, skip);
      skips[row] = skip;
    }
    for (std::size_t leg = 0; leg + 1 < cascade_.legs.size() && !candidates_.empty(); ++leg)
      gathered_leg(cascade_.legs[leg], cascade_.legs[leg + 1]);
    for (Candidate& c : candidates_) {
      c.score =
          trees_.sum(trees_.stage_count() - 1, tile_.window(c.column, c.row), c.inverse_deviation);
      windows.push_back(c);
    }
  }

 private:
  void scan_word(int row, int column, bool skip_rule, bool& skip) {
    const int count = std::min(64, tile_.grid.width - column);
    const std::uint32_t* const windows = tile_.window(column, row);
    HWY_ALIGN float inverse[64 + group_windows] = {};
    const std::uint64_t there = ~std::uint64_t{0} >> (64 - count);
    const std::uint64_t varied =
        there & Features::contrasts(cascade_.contrast[tile_.step - 1], windows, tile_.squares,
                                    count, inverse);
    std::uint64_t alive = survivors(0, windows, inverse, varied);
    if (skip_rule) {
      const std::uint64_t skipped = skipped_windows(varied & ~alive, skip);
      if (count < 64) skip = skipped >> count & 1;
      alive &= ~skipped;
    }
    for (int s = 1; s < cascade_.legs[0] && alive; ++s)
      alive = survivors(s, windows, inverse, alive);
    for (; alive; alive &= alive - 1) {
      const int i = std::countr_zero(alive);
      candidates_.push_back({row, column + i, inverse[i], 0});
    }
  }

  // Of those alive, the windows that pass a stage. A group begins with the first one left, wherever
  // it lies.
  std::uint64_t survivors(int stage, const std::uint32_t* windows, const float* inverse,
                          std::uint64_t alive) const {
    std::uint64_t result = 0;
    while (alive) {
      const int i = std::countr_zero(alive);
      const auto group = static_cast<std::uint32_t>(alive >> i & 0xFFFF);
      alive &= ~(std::uint64_t{0xFFFF} << i);
      const Outcome outcome = vote<Features>(trees_, stage, windows + i, load(inverse + i));
      std::uint32_t passed = outcome.passed & group;
      for (std::uint32_t unsure = outcome.unsure & group; unsure; unsure &= unsure - 1) {
        const int w = std::countr_zero(unsure);
        if (trees_.passes(stage, windows + i + w, inverse[i + w])) passed |= 1u << w;
      }
      result |= std::uint64_t{passed} << i;
    }
    return result;
  }

  // Candidates that do not pass the stages first .. last - 1 are removed.
  void gathered_leg(int first, int last) {
    const Layout layout = patch_layout(cascade_.window, tile_.layout.tilted != 0);
    patch_.resize((cascade_.window.height + 1) * layout.row * (layout.tilted ? 2 : 1) +
                  patch_slack);
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < candidates_.size(); begin += group_windows) {
      const int count =
          static_cast<int>(std::min<std::size_t>(group_windows, candidates_.size() - begin));
      const Candidate* const group = &candidates_[begin];
      std::uint32_t alive = evaluate_gathered(group, count, layout, first, last);
      for (; alive; alive &= alive - 1) candidates_[kept++] = group[std::countr_zero(alive)];
    }
    candidates_.resize(kept);
  }

  std::uint32_t evaluate_gathered(const Candidate* group, int count, const Layout& layout,
                                  int first, int last) {
    const std::uint32_t* windows[group_windows];
    HWY_ALIGN float inverse[group_windows];
    for (int i = 0; i < group_windows; ++i) {
      const Candidate& c = group[std::min(i, count - 1)];
      windows[i] = tile_.window(c.column, c.row);
      inverse[i] = c.inverse_deviation;
    }
    gather(tile_.layout, layout, cascade_.window, windows, patch_.data());
    std::uint32_t alive = 0xFFFFu >> (group_windows - count);
    for (int s = first; s < last && alive; ++s) {
      const Outcome outcome = vote<Features>(cascade_.patch, s, patch_.data(), load(inverse));
      std::uint32_t passed = outcome.passed & alive;
      for (std::uint32_t unsure = outcome.unsure & alive; unsure; unsure &= unsure - 1) {
        const int w = std::countr_zero(unsure);
        if (trees_.passes(s, windows[w], inverse[w])) passed |= 1u << w;
      }
      alive = passed;
    }
    return alive;
  }

  const Compiled& cascade_;
  const typename std::remove_cvref_t<decltype(Compiled::patch)>& trees_;
  const Tile& tile_;
  std::vector<Candidate>& candidates_;
  std::vector<std::uint32_t>& patch_;
};

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // for each instruction set
