// Weighted sums of rows: the inner loop of all filters. Plain loops, which the compiler vectorises.
// Included once for each instruction set.
#if defined(FACESAT_CPU_FILTER_ROWS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef FACESAT_CPU_FILTER_ROWS_INL
#undef FACESAT_CPU_FILTER_ROWS_INL
#else
#define FACESAT_CPU_FILTER_ROWS_INL
#endif

#include <hwy/highway.h>

#include "filters/cpu/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {

// sums[x] += sum over all terms of weight * from[x], for x from 0 to n - 1, in the terms' order.
// The pass over a block of `sums` for every four terms stays in the first-level cache.
template <bool ones, class In, class Sum>
void add_block(const Terms<In, Sum>& terms, int begin, int end, Sum* HWY_RESTRICT sums) {
  const auto times = [](Sum weight, In value) {
    return ones ? static_cast<Sum>(value) : weight * static_cast<Sum>(value);
  };
  std::size_t t = 0;
  for (; t + 4 <= terms.size(); t += 4) {
    const auto [a, i] = terms[t];
    const auto [b, j] = terms[t + 1];
    const auto [c, k] = terms[t + 2];
    const auto [d, l] = terms[t + 3];
    for (int x = begin; x < end; ++x)
      sums[x] = sums[x] + times(i, a[x]) + times(j, b[x]) + times(k, c[x]) + times(l, d[x]);
  }
  for (; t < terms.size(); ++t) {
    const auto [a, i] = terms[t];
    for (int x = begin; x < end; ++x) sums[x] += times(i, a[x]);
  }
}

template <class In, class Sum>
void add_terms(const Terms<In, Sum>& terms, int n, Sum* sums) {
  const bool ones = std::all_of(terms.begin(), terms.end(),
                                [](const auto& term) { return term.weight == Sum{1}; });
  constexpr int block = 1024;
  for (int x = 0; x < n; x += block) {
    const int end = std::min(n, x + block);
    ones ? add_block<true>(terms, x, end, sums) : add_block<false>(terms, x, end, sums);
  }
}

template <class In, class Sum>
void weighted_sum(const Terms<In, Sum>& terms, int n, Sum* sums) {
  std::fill_n(sums, n, Sum{});
  add_terms(terms, n, sums);
}

// One of these sums, at a place on either side.
template <class In, class Sum>
Sum sum_at(const Terms<In, Sum>& terms, int x) {
  Sum sum{};
  for (const auto& [from, weight] : terms) sum += weight * static_cast<Sum>(from[x]);
  return sum;
}

// Row y of the sums of a convolution by the factors of a mask, from column `first` to the one
// before `last`: the mask's columns, then its rows.
template <class In, class Sum, class W>
void separable_row(View<const In> picture, const std::vector<W>& row, const std::vector<W>& column,
                   Border border, int y, int first, int last, FilterRow<In, Sum>& memory,
                   Sum* sums) {
  const int width = picture.size.width, rx = static_cast<int>(row.size() / 2);
  // The columns of the picture, of which `padded` has the sums, and what stands beside them.
  const int left = std::max(0, first - rx), right = std::min(width, last + rx);
  memory.padded.resize(static_cast<std::size_t>(last - first + 2 * rx));
  Sum* const inner = memory.padded.data() + rx + (left - first);
  column_terms(picture.sub({left, 0, width - left, picture.size.height}), column, border, y,
               memory.columns);
  weighted_sum(memory.columns, right - left, inner);
  const auto beside = [&](int x) {
    const int source = source_of(x, width, border);
    return source == no_source                ? Sum{}
           : source >= left && source < right ? inner[source - left]
                                              : sum_at(memory.columns, source - left);
  };
  for (int x = first - rx; x < left; ++x) inner[x - left] = beside(x);
  for (int x = right; x < last + rx; ++x) inner[x - left] = beside(x);
  memory.rows.clear();
  for (int i = 0; i <= 2 * rx; ++i)
    add_term(memory.rows, memory.padded.data() + 2 * rx - i, row[static_cast<std::size_t>(i)]);
  weighted_sum(memory.rows, last - first, sums);
}

// Row y of the sums of a convolution by weight(0), weight(1), ...: all of a mask's. `picture` is
// padded.
template <class In, class Sum, class Weight>
void direct_row(View<const In> picture, Radius radius, Weight weight, Border border, int y,
                Terms<In, Sum>& terms, Sum* sums) {
  constexpr std::size_t limit = 4096;  // of working memory; a multiple of add_block's four
  const int width = picture.size.width;
  std::fill_n(sums, width, Sum{});
  terms.clear();
  for (int j = 0; j < radius.rows(); ++j) {
    const int source = source_of(y + radius.y - j, picture.size.height, border);
    if (source == no_source) continue;
    for (int i = 0; i < radius.columns(); ++i) {
      add_term(terms, picture.row(source) + radius.x - i,
               weight(static_cast<std::size_t>(j * radius.columns() + i)));
      if (terms.size() < limit) continue;
      add_terms(terms, width, sums);
      terms.clear();
    }
  }
  add_terms(terms, width, sums);
}

}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
