// The order in which the windows of a tile are evaluated. Included once for each instruction set.
//
// The stages are divided into legs. In the first leg, windows are evaluated along each row, stage
// by stage, with one bit per window. Vectors cover the windows alive (not yet rejected), and the
// rejected ones between them. In the further legs, the survivors of the whole tile are gathered,
// sixteen windows at a time, so that no lane is lost to windows rejected before.
#if defined(FACESAT_CPU_SCAN_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_SCAN_INL
#undef FACESAT_CPU_SCAN_INL
#else
#define FACESAT_CPU_SCAN_INL
#endif

#include <algorithm>
#include <array>
#include <bit>

#include "core/cpu/compiled.hpp"
#include "core/cpu/responses-inl.hpp"
#include "core/rules.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

// ---- gathering: the integral image at the corners of sixteen windows, copied from anywhere in a
// tile, so that these windows are neighbours (see compiled.hpp)

// Elements that gather() may write past the last corner.
inline constexpr std::size_t gathered_slack = 8 * gathered_windows;

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void transpose(const std::uint32_t* const* windows, std::ptrdiff_t from, int count,
                          std::uint32_t* gathered, std::ptrdiff_t stride) {
  for (int i = 0; i < count; ++i)
    for (int w = 0; w < gathered_windows; ++w) gathered[i * stride + w] = windows[w][from + i];
}
#else
// Copies `count` elements from each of sixteen places to gathered[i * stride + window]. Reads and
// writes up to three elements more. Transposes four windows by four elements at a time, in
// registers.
HWY_INLINE void transpose(const std::uint32_t* const* windows, std::ptrdiff_t from, int count,
                          std::uint32_t* gathered, std::ptrdiff_t stride) {
  const hn::CappedTag<std::uint32_t, 4> tag;
  const hn::Repartition<std::uint64_t, decltype(tag)> pairs;
  for (int w = 0; w < gathered_windows; w += 4)
    for (int i = 0; i < count; i += 4) {
      const auto a = hn::LoadU(tag, windows[w] + from + i);
      const auto b = hn::LoadU(tag, windows[w + 1] + from + i);
      const auto c = hn::LoadU(tag, windows[w + 2] + from + i);
      const auto d = hn::LoadU(tag, windows[w + 3] + from + i);
      const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(tag, a, b));
      const auto cd_low = hn::BitCast(pairs, hn::InterleaveLower(tag, c, d));
      const auto ab_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, a, b));
      const auto cd_high = hn::BitCast(pairs, hn::InterleaveUpper(tag, c, d));
      std::uint32_t* const to = gathered + i * stride + w;
      hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairs, ab_low, cd_low)), tag, to);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_low, cd_low)), tag, to + stride);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(pairs, ab_high, cd_high)), tag,
                 to + 2 * stride);
      hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(pairs, ab_high, cd_high)), tag,
                 to + 3 * stride);
    }
}
#endif

// Copies the integral image, or the tilted one at offset `table`. Rows are copied in order:
// elements written past the end of a row are overwritten by the next row.
HWY_INLINE void gather_table(const Layout& tile, const Layout& gathered_layout, Size window,
                             const std::uint32_t* const* windows, std::ptrdiff_t table,
                             std::uint32_t* gathered) {
  const int columns = window.width + 1;
  for (int y = 0; y <= window.height; ++y) {
    const std::ptrdiff_t row = table + y * tile.row;
    std::uint32_t* const to = gathered + y * gathered_layout.row;
    if (tile.odd) {
      transpose(windows, row, (columns + 1) / 2, to, 2 * gathered_windows);
      transpose(windows, row + tile.odd, columns / 2, to + gathered_windows, 2 * gathered_windows);
    } else {
      transpose(windows, row, columns, to, gathered_windows);
    }
  }
}

// Gathers sixteen windows; `windows` points to corner (0, 0) of each of the sixteen windows. `tile`
// and `gathered_layout` are the layouts to read and to write.
HWY_INLINE void gather(const Layout& tile, const Layout& gathered_layout, Size window,
                       const std::uint32_t* const* windows, std::uint32_t* gathered) {
  gather_table(tile, gathered_layout, window, windows, 0, gathered);
  if (tile.tilted)
    gather_table(tile, gathered_layout, window, windows, tile.tilted,
                 gathered + gathered_layout.tilted);
}

// ---- the scan

// The skip rule (a window rejected by the first stage lets the next one in its row be skipped) for
// 64 neighbours, one bit each. The first one is skipped if `skip` is set. Returns the skipped
// windows and sets `skip` for the window after the 64th.
inline std::uint64_t skipped_windows(std::uint64_t rejected, bool& skip) {
  const std::uint64_t first = skip;
  rejected &= ~first;
  const std::uint64_t skipped = first | rules::skipped_by(rejected);
  skip = (rejected & ~skipped) >> 63;
  return skipped;
}

template <class Features, class Compiled>
class TileWindows {
 public:
  TileWindows(const Compiled& cascade, const Tile& tile, EvaluationMemory& memory, StopMeter& meter)
      : cascade_(cascade),
        trees_(cascade.trees(tile)),
        tile_(tile),
        survivors_(memory.survivors),
        gathered_(memory.gathered),
        inverse_(memory.inverse_deviations),
        meter_(meter) {
    survivors_.clear();
    inverse_.resize(block + lanes);
  }

  void run(bool skip_rule, std::uint8_t* skips, std::vector<Survivor>& windows) {
    const std::int64_t blocks = divide_up(tile_.grid.width, block);
    const std::int64_t max_work_per_row = blocks * (block / lanes) * cascade_.first_leg_nodes;
    for (int row = 0; row < tile_.grid.height; ++row) {
      meter_.spend(max_work_per_row);
      bool skip = skip_rule && skips[row];
      for (int column = 0; column < tile_.grid.width; column += block)
        scan_block(row, column, skip_rule, skip);
      skips[row] = skip;
    }
    for (std::size_t leg = 0; leg + 1 < cascade_.leg_ends.size() && !survivors_.empty(); ++leg)
      gathered_leg(cascade_.leg_ends[leg], cascade_.leg_ends[leg + 1]);
    const int last = trees_.stage_count() - 1;
    for (Survivor& c : survivors_) {
      meter_.spend(trees_.stages[last].node_count);
      c.score = trees_.sum(last, tile_.window(c.column, c.row), c.inverse_deviation);
      windows.push_back(c);
    }
  }

 private:
  // How many neighbours in a row go through the first leg together: enough to fill batches, few
  // enough for their part of the tables to fit into the first-level cache. `words` is the number of
  // 64-bit words that hold a bit for each.
  static constexpr int words = 4, block = 64 * words;
  using Bits = std::array<std::uint64_t, words>;  // one bit per window of a block

  using Neighbours = typename Features::Neighbours;
  static constexpr std::size_t lanes = hn::MaxLanes(Neighbours());
  static constexpr std::uint64_t lanes_mask = (std::uint64_t{1} << lanes) - 1;

  // The first leg of a block of neighbours. `skip`: on entry, whether the block's first window is
  // skipped; on return, whether the window after the block is.
  void scan_block(int row, int column, bool skip_rule, bool& skip) {
    const int count = std::min(block, tile_.grid.width - column);
    const std::uint32_t* const windows = tile_.window(column, row);
    float* const inverse = inverse_.data();
    Bits varied{};  // windows whose variance is high enough
    for (int w = 0; w < words && 64 * w < count; ++w) {
      const int in_word = std::min(64, count - 64 * w);
      varied[w] = ~std::uint64_t{0} >> (64 - in_word) &
                  Features::normalise(cascade_.normalisation[tile_.step - 1], windows + 64 * w,
                                      tile_.squares, in_word, inverse + 64 * w);
    }
    Bits alive = survivors(0, windows, inverse, varied);
    if (skip_rule)
      for (int w = 0; w < words && 64 * w < count; ++w) {
        const std::uint64_t skipped = skipped_windows(varied[w] & ~alive[w], skip);
        if (count - 64 * w < 64) skip = skipped >> (count - 64 * w) & 1;
        alive[w] &= ~skipped;
      }
    for (int s = 1; s < cascade_.leg_ends[0] && alive != Bits{}; ++s)
      alive = survivors(s, windows, inverse, alive);
    for (int w = 0; w < words; ++w)
      for (; alive[w]; alive[w] &= alive[w] - 1) {
        const int i = 64 * w + std::countr_zero(alive[w]);
        survivors_.push_back({row, column + i, inverse[i], 0});
      }
  }

  // Returns the alive windows that pass a stage. Each vector begins with the first alive window of
  // a word that no earlier vector covers.
  Bits survivors(int stage, const std::uint32_t* windows, const float* inverse,
                 const Bits& alive) const {
    std::uint8_t starts[block];
    int count = 0;
    const bool in_vectors = !trees_.stages[stage].too_large_for_vectors;
    for (int w = 0; w < words; ++w)
      for (std::uint64_t left = in_vectors ? alive[w] : 0; left; ++count) {
        const int i = std::countr_zero(left);
        starts[count] = static_cast<std::uint8_t>(64 * w + i);
        left &= ~(lanes_mask << i);
      }
    Bits passed{}, unsure = in_vectors ? Bits{} : alive;
    int i = 0;
    if constexpr (Features::batch_vectors >= 4)
      for (; i + 4 <= count; i += 4)
        test_vectors<4>(stage, windows, inverse, starts + i, passed, unsure);
    if constexpr (Features::batch_vectors >= 2)
      for (; i + 2 <= count; i += 2)
        test_vectors<2>(stage, windows, inverse, starts + i, passed, unsure);
    for (; i < count; ++i) test_vectors<1>(stage, windows, inverse, starts + i, passed, unsure);
    // Unsure windows are evaluated again only now, so that the loops above stay short and in
    // registers.
    for (int w = 0; w < words; ++w)
      passed[w] = (passed[w] & alive[w]) |
                  pass_one_by_one(stage, windows + 64 * w, inverse + 64 * w, unsure[w] & alive[w]);
    return passed;
  }

  // Evaluates a stage on n vectors, which begin with the windows `starts`. Sets the bits in
  // `passed` of the windows that pass, and the bits in `unsure` of those whose sum is too close to
  // the threshold to decide.
  template <std::size_t n>
  HWY_INLINE void test_vectors(int stage, const std::uint32_t* windows, const float* inverse,
                               const std::uint8_t* starts, Bits& passed, Bits& unsure) const {
    Batch<Neighbours, n> batch;
    for (std::size_t v = 0; v < n; ++v) {
      batch.windows[v] = windows + starts[v];
      batch.inverse_deviations[v] = hn::LoadU(Neighbours(), inverse + starts[v]);
    }
    const Outcome<n> outcome = outcome_of_stage<Features>(trees_, stage, batch);
    for (std::size_t v = 0; v < n; ++v) {
      const int word = starts[v] / 64, shift = starts[v] % 64;
      passed[word] |= std::uint64_t{outcome.passed[v]} << shift;
      unsure[word] |= std::uint64_t{outcome.unsure[v]} << shift;
    }
  }

  // Returns those of up to 64 neighbours that pass a stage, evaluated one after the other in f64.
  std::uint64_t pass_one_by_one(int stage, const std::uint32_t* windows, const float* inverse,
                                std::uint64_t neighbours) const {
    std::uint64_t passed = 0;
    for (; neighbours; neighbours &= neighbours - 1) {
      const int i = std::countr_zero(neighbours);
      if (passes(stage, windows + i, inverse[i])) passed |= std::uint64_t{1} << i;
    }
    return passed;
  }

  bool passes(int stage, const std::uint32_t* window, float inverse) const {
    meter_.spend(trees_.stages[stage].node_count);
    return trees_.passes(stage, window, inverse);
  }

  // Removes the survivors that do not pass stages first .. last - 1.
  void gathered_leg(int first, int last) {
    const Layout layout = gathered_layout(cascade_.window, tile_.layout.tilted != 0);
    gathered_.resize((cascade_.window.height + 1) * layout.row * (layout.tilted ? 2 : 1) +
                     gathered_slack);
    std::size_t kept = 0;
    for (std::size_t begin = 0; begin < survivors_.size(); begin += gathered_windows) {
      const int count =
          static_cast<int>(std::min<std::size_t>(gathered_windows, survivors_.size() - begin));
      const Survivor* const group = &survivors_[begin];
      std::uint32_t alive = evaluate_gathered(group, count, layout, first, last);
      for (; alive; alive &= alive - 1) survivors_[kept++] = group[std::countr_zero(alive)];
    }
    survivors_.resize(kept);
  }

  // Evaluates stages first .. last - 1 on up to sixteen survivors. Returns a bit for each, which
  // is set if it passes.
  std::uint32_t evaluate_gathered(const Survivor* group, int count, const Layout& layout, int first,
                                  int last) {
    constexpr std::size_t wide = hn::MaxLanes(Gathered()), n = gathered_windows / wide;
    const std::uint32_t* windows[gathered_windows];
    float inverse[gathered_windows];
    for (int i = 0; i < gathered_windows; ++i) {
      const Survivor& c = group[std::min(i, count - 1)];  // spare lanes repeat the last one
      windows[i] = tile_.window(c.column, c.row);
      inverse[i] = c.inverse_deviation;
    }
    meter_.spend(static_cast<std::int64_t>(gathered_.size() / gathered_windows));
    gather(tile_.layout, layout, cascade_.window, windows, gathered_.data());
    Batch<Gathered, n> batch;
    for (std::size_t v = 0; v < n; ++v) {
      batch.windows[v] = gathered_.data() + v * wide;
      batch.inverse_deviations[v] = hn::LoadU(Gathered(), inverse + v * wide);
    }
    std::uint32_t alive = 0xFFFFu >> (gathered_windows - count);
    for (int s = first; s < last && alive; ++s) {
      std::uint32_t passed = 0, unsure = ~0u;
      if (!trees_.stages[s].too_large_for_vectors) {
        meter_.spend(trees_.stages[s].node_count * std::int64_t{n});
        const Outcome<n> outcome = outcome_of_stage<Features>(cascade_.gathered, s, batch);
        unsure = 0;
        for (std::size_t v = 0; v < n; ++v) {
          passed |= outcome.passed[v] << (v * wide);
          unsure |= outcome.unsure[v] << (v * wide);
        }
      }
      for (unsure &= alive; unsure; unsure &= unsure - 1) {
        const int w = std::countr_zero(unsure);
        if (passes(s, windows[w], inverse[w])) passed |= 1u << w;
      }
      alive &= passed;
    }
    return alive;
  }

  const Compiled& cascade_;
  const typename std::remove_cvref_t<decltype(Compiled::gathered)>& trees_;
  const Tile& tile_;
  std::vector<Survivor>& survivors_;
  std::vector<std::uint32_t>& gathered_;
  std::vector<float>& inverse_;  // inverse deviations of a block
  StopMeter& meter_;
};

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // for each instruction set
