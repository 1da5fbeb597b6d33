// Statistics of windows. Whatever adds up the windows does so for a row of the result at a time;
// then one loop turns the row's sums into pixels.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filters/cpu/windows.cpp"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "filters/cpu/filter.hpp"
#include "filters/cpu/rows-inl.hpp"
#include "filters/interval.hpp"
#include "filters/rounding.hpp"

#ifndef FACESAT_CPU_FILTER_WINDOWS
#define FACESAT_CPU_FILTER_WINDOWS
namespace facesat::cpu {

enum class Statistic { mean, threshold, deviation, skewness_pixel, variance, skewness };

struct WindowFilter {
  Statistic statistic;
  Radius radius;
  Border border;
  View<std::uint8_t> bytes;            // the result; with variance and skewness,
  View<float> reals;                   // this one
  View<const std::uint8_t> picture{};  // of threshold
  int offset = 0;
  // What the sums come from. Without tables: `columns`, or pictures padded by radius.x, of the
  // pixels and their powers.
  const IntegralImages* tables = nullptr;
  View<const std::uint8_t> columns{}, pixels{};
  View<const std::uint16_t> squares{};
  View<const std::uint32_t> cubes{};

  Size size() const { return bytes.data ? bytes.size : reals.size; }
  bool needs_squares() const { return statistic >= Statistic::deviation; }
  bool needs_cubes() const {
    return statistic == Statistic::skewness || statistic == Statistic::skewness_pixel;
  }
};

// A row of sums of windows; of squares and cubes, where they are needed.
struct WindowRow {
  explicit WindowRow(const WindowFilter& of)
      : sums(static_cast<std::size_t>(of.size().width)),
        squares(of.needs_squares() ? sums.size() : 0),
        cubes(of.needs_cubes() ? sums.size() : 0) {}

  WindowSums at(std::size_t x, std::int64_t pixels) const {
    return {pixels, sums[x], static_cast<std::int64_t>(squares[x]),
            cubes.empty() ? 0 : static_cast<double>(cubes[x])};
  }

  std::vector<std::uint32_t> sums;
  std::vector<std::uint64_t> squares, cubes;
};

// The combinations of prefix sums for the windows at both ends of a row, which reach beyond it.
struct Ends {
  Ends(int width, int radius, Border border)
      : inner_begin(std::min(radius, width)), inner_end(std::max(inner_begin, width - radius)) {
    for (int x = 0; x < width; ++x)
      if (x < inner_begin || x >= inner_end)
        sums.push_back(interval_sum(x - radius, x + radius + 1, width, border));
  }
  // Calls visit(x, combination).
  template <class Visit>
  void for_each(int width, Visit visit) const {
    const PrefixCombination* sum = sums.data();
    for (int x = 0; x < inner_begin; ++x) visit(x, *sum++);
    for (int x = inner_end; x < width; ++x) visit(x, *sum++);
  }

  int inner_begin, inner_end;  // windows between these places lie within the row
  std::vector<PrefixCombination> sums;
};

// The rows of a table whose weighted sum has, for each place, the sum of the part of the window's
// rows that lies to the left: P(0), P(1), ..., P(width).
template <class T>
void table_terms(const BandedTable<T>& table, int radius, Border border, int y,
                 Terms<T, T>& terms) {
  terms.clear();
  const auto add = [&](const T* from, T factor) {
    for (Term<T, T>& term : terms)
      if (term.from == from) {
        term.weight += factor;
        return;
      }
    terms.push_back({from, factor});
  };
  const PrefixCombination sum =
      interval_sum(y - radius, y + radius + 1, table.size().height, border);
  for (int i = 0; i < PrefixCombination::terms; ++i) {
    if (sum.factors[i] == 0 || sum.places[i] == 0) continue;
    const int row = sum.places[i] - 1, index = row / BandedTable<T>::band_rows;
    const View<const T> band = table.band(index);
    const auto factor = static_cast<T>(sum.factors[i]);
    add(band.row(row % BandedTable<T>::band_rows) - 1, factor);
    if (index > 0) add(band.row(-1) - 1, factor);
  }
  std::erase_if(terms, [](const Term<T, T>& term) { return term.weight == 0; });
}

}  // namespace facesat::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace facesat::cpu::HWY_NAMESPACE {
namespace {

// Sums of windows from an integral image.
template <class T>
class TableRows {
 public:
  explicit TableRows(int width) : prefix_(static_cast<std::size_t>(width) + 1) {}

  template <class Out>
  void sum(const BandedTable<T>& table, int y, const WindowFilter& of, const Ends& ends,
           Out* HWY_RESTRICT sums) {
    const int width = table.size().width, radius = of.radius.x;
    table_terms(table, of.radius.y, of.border, y, terms_);
    T* HWY_RESTRICT const prefix = prefix_.data();
    if (terms_.size() == 2 && terms_[0].weight == 1 && terms_[1].weight == static_cast<T>(-1)) {
      const T* const end = terms_[0].from;
      const T* const begin = terms_[1].from;
      for (int x = 0; x <= width; ++x) prefix[x] = end[x] - begin[x];
    } else {
      weighted_sum(terms_, width + 1, prefix);
    }
    for (int x = ends.inner_begin; x < ends.inner_end; ++x)
      sums[x] = prefix[x + radius + 1] - prefix[x - radius];
    ends.for_each(width, [&](int x, const PrefixCombination& combination) {
      T all = 0;
      for (int i = 0; i < PrefixCombination::terms; ++i)
        all += static_cast<T>(combination.factors[i]) * prefix[combination.places[i]];
      sums[x] = all;
    });
  }

 private:
  Terms<T, T> terms_;
  std::vector<T> prefix_;
};

// variance_of() for a row.
void variance_row(const WindowRow& row, std::int64_t pixels, float* HWY_RESTRICT variances) {
  const std::size_t width = row.sums.size();
  const std::uint32_t* const sums = row.sums.data();
  const std::uint64_t* const squares = row.squares.data();
  // The same in real numbers, whose products are exact below 2^53.
  if (pixels * pixels < (std::int64_t{1} << 53) / 65025) {
    const auto count = static_cast<double>(pixels), squared = count * count;
    for (std::size_t x = 0; x < width; ++x) {
      const auto sum = static_cast<double>(sums[x]);
      variances[x] = static_cast<float>(
          (count * static_cast<double>(static_cast<std::int64_t>(squares[x])) - sum * sum) /
          squared);
    }
  } else {
    for (std::size_t x = 0; x < width; ++x)
      variances[x] = static_cast<float>(variance_of(row.at(x, pixels)));
  }
}

void finish_row(const WindowFilter& of, const WindowRow& row, int y) {
  const std::int64_t pixels = of.radius.area();
  const auto width = static_cast<std::size_t>(of.size().width);
  std::uint8_t* HWY_RESTRICT const bytes = of.bytes.data ? of.bytes.row(y) : nullptr;
  float* HWY_RESTRICT const reals = of.reals.data ? of.reals.row(y) : nullptr;
  const std::uint32_t* const sums = row.sums.data();
  const RoundedQuotient mean(static_cast<double>(pixels));
  switch (of.statistic) {
    case Statistic::mean:
      for (std::size_t x = 0; x < width; ++x) bytes[x] = mean(sums[x]);
      return;
    case Statistic::threshold: {
      const std::uint8_t* const picture = of.picture.row(y);
      const int offset = of.offset;
      for (std::size_t x = 0; x < width; ++x)
        bytes[x] = picture[x] > mean(sums[x]) - offset ? 255 : 0;
      return;
    }
    case Statistic::deviation:
      for (std::size_t x = 0; x < width; ++x) bytes[x] = deviation_pixel(row.at(x, pixels));
      return;
    case Statistic::skewness_pixel:
      for (std::size_t x = 0; x < width; ++x) bytes[x] = skewness_pixel(row.at(x, pixels));
      return;
    case Statistic::variance:
      return variance_row(row, pixels, reals);
    case Statistic::skewness:
      for (std::size_t x = 0; x < width; ++x)
        reals[x] = static_cast<float>(skewness_of(row.at(x, pixels)));
  }
}

void WindowRows(const WindowFilter& of, int first, int last) {
  const int width = of.size().width;
  WindowRow row(of);
  const auto finish = [&](auto sum) {
    for (int y = first; y < last; ++y) {
      sum(y);
      finish_row(of, row, y);
    }
  };
  if (of.tables) {
    const Ends ends(width, of.radius.x, of.border);
    TableRows<std::uint32_t> rows(width);
    TableRows<std::uint64_t> long_rows(width);
    finish([&](int y) {
      const IntegralImages& tables = *of.tables;
      rows.sum(tables.sums(), y, of, ends, row.sums.data());
      if (of.needs_squares() && tables.has_short_squares())
        rows.sum(tables.short_squares(), y, of, ends, row.squares.data());
      else if (of.needs_squares())
        long_rows.sum(tables.squares(), y, of, ends, row.squares.data());
      if (of.needs_cubes()) long_rows.sum(tables.cubes(), y, of, ends, row.cubes.data());
    });
  } else if (of.columns.data) {
    const std::vector<std::uint32_t> along_x(static_cast<std::size_t>(of.radius.columns()), 1),
        along_y(static_cast<std::size_t>(of.radius.rows()), 1);
    FilterRow<std::uint8_t, std::uint32_t> memory;
    finish([&](int y) {
      separable_row(of.columns, along_x, along_y, of.border, y, 0, width, memory, row.sums.data());
    });
  } else {
    const auto one = [](std::size_t) { return 1; };
    Terms<std::uint8_t, std::uint32_t> terms;
    Terms<std::uint16_t, std::uint64_t> square_terms;
    Terms<std::uint32_t, std::uint64_t> cube_terms;
    finish([&](int y) {
      direct_row(of.pixels, of.radius, one, of.border, y, terms, row.sums.data());
      if (of.needs_squares())
        direct_row(of.squares, of.radius, one, of.border, y, square_terms, row.squares.data());
      if (of.needs_cubes())
        direct_row(of.cubes, of.radius, one, of.border, y, cube_terms, row.cubes.data());
    });
  }
}

}  // namespace
}  // namespace facesat::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace facesat::cpu {

HWY_EXPORT(WindowRows);

namespace {

void run(const WindowFilter& filter) {
  for_each_band(filter.size().height, [&](int first, int last) {
    HWY_DYNAMIC_DISPATCH(WindowRows)(filter, first, last);
  });
}

// Reads every pixel of every window.
void run_direct(WindowFilter filter, View<const std::uint8_t> picture) {
  const int radius = filter.radius.x;
  const PaddedPicture<std::uint8_t> pixels(picture, radius, filter.border,
                                           [](std::uint8_t pixel) { return pixel; });
  filter.pixels = pixels.view();
  if (!filter.needs_squares()) return run(filter);
  const PaddedPicture<std::uint16_t> squares(picture, radius, filter.border,
                                             [](int pixel) { return pixel * pixel; });
  filter.squares = squares.view();
  if (!filter.needs_cubes()) return run(filter);
  const PaddedPicture<std::uint32_t> cubes(
      picture, radius, filter.border, [](std::uint32_t pixel) { return pixel * pixel * pixel; });
  filter.cubes = cubes.view();
  run(filter);
}

}  // namespace

void box_mean(const IntegralImages& tables, Radius radius, Border border,
              View<std::uint8_t> result) {
  run({Statistic::mean, radius, border, result, {}, {}, 0, &tables});
}
void adaptive_threshold(const IntegralImages& tables, View<const std::uint8_t> picture,
                        Radius radius, Border border, int offset, View<std::uint8_t> result) {
  run({Statistic::threshold, radius, border, result, {}, picture, offset, &tables});
}
void deviation(const IntegralImages& tables, Radius radius, Border border,
               View<std::uint8_t> result) {
  run({Statistic::deviation, radius, border, result, {}, {}, 0, &tables});
}
void variance(const IntegralImages& tables, Radius radius, Border border, View<float> result) {
  run({Statistic::variance, radius, border, {}, result, {}, 0, &tables});
}
void skewness(const IntegralImages& tables, Radius radius, Border border, View<float> result) {
  run({Statistic::skewness, radius, border, {}, result, {}, 0, &tables});
}
void skewness(const IntegralImages& tables, Radius radius, Border border,
              View<std::uint8_t> result) {
  run({Statistic::skewness_pixel, radius, border, result, {}, {}, 0, &tables});
}

void three_box_means(View<const std::uint8_t> picture, double sigma, Border border,
                     View<std::uint8_t> result, IntegralImages& tables) {
  View<const std::uint8_t> from = picture;
  for (const int radius : three_boxes(sigma).radius) {
    tables.build(from, Powers::pixels, {radius, radius});
    box_mean(tables, {radius, radius}, border, result);
    from = result;
  }
}

void separable_box_mean(View<const std::uint8_t> picture, Radius radius, Border border,
                        View<std::uint8_t> result) {
  run({Statistic::mean, radius, border, result, {}, {}, 0, nullptr, picture});
}

void direct_box_mean(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<std::uint8_t> result) {
  run_direct({Statistic::mean, radius, border, result, {}}, picture);
}
void direct_adaptive_threshold(View<const std::uint8_t> picture, Radius radius, Border border,
                               int offset, View<std::uint8_t> result) {
  run_direct({Statistic::threshold, radius, border, result, {}, picture, offset}, picture);
}
void direct_deviation(View<const std::uint8_t> picture, Radius radius, Border border,
                      View<std::uint8_t> result) {
  run_direct({Statistic::deviation, radius, border, result, {}}, picture);
}
void direct_variance(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<float> result) {
  run_direct({Statistic::variance, radius, border, {}, result}, picture);
}
void direct_skewness(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<std::uint8_t> result) {
  run_direct({Statistic::skewness_pixel, radius, border, result, {}}, picture);
}
void direct_skewness(View<const std::uint8_t> picture, Radius radius, Border border,
                     View<float> result) {
  run_direct({Statistic::skewness, radius, border, {}, result}, picture);
}

}  // namespace facesat::cpu
#endif
