#include "core/cpu/resize.hpp"

#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

namespace facesat::cpu {
namespace {

// Source rows interpolated along x, in 8.8 fixed point; the last two are kept, for output rows
// mostly share them with the row before.
class RowCache {
 public:
  RowCache(View<const std::uint8_t> gray, std::span<const ResizeTap> columns)
      : gray_(gray), columns_(columns) {
    for (auto& row : rows_) row.pixels.resize(columns.size());
  }

  const std::uint16_t* row(int y) {
    if (y == rows_[0].y) return rows_[0].pixels.data();
    if (y != rows_[1].y) {
      std::swap(rows_[0], rows_[1]);
      rows_[1].y = y;
      interpolate(gray_.row(y), rows_[1].pixels);
    }
    return rows_[1].pixels.data();
  }

 private:
  struct Row {
    int y = -1;
    std::vector<std::uint16_t> pixels;
  };
  void interpolate(const std::uint8_t* from, std::vector<std::uint16_t>& to) const {
    for (std::size_t x = 0; x < columns_.size(); ++x) {
      const ResizeTap& t = columns_[x];
      to[x] = static_cast<std::uint16_t>(t.first_weight * from[t.first] +
                                         t.second_weight * from[t.second]);
    }
  }

  View<const std::uint8_t> gray_;
  std::span<const ResizeTap> columns_;
  Row rows_[2];
};

}  // namespace

void resize(View<const std::uint8_t> gray, View<std::uint8_t> level,
            std::span<const ResizeTap> columns, std::span<const ResizeTap> rows) {
  if (gray.size == level.size) return copy(gray, level);
  tbb::parallel_for(tbb::blocked_range<int>(0, level.size.height, 32), [&](const auto& band) {
    RowCache cache(gray, columns);
    for (int y = band.begin(); y != band.end(); ++y) {
      const ResizeTap& tap = rows[y];
      const std::uint16_t* first = cache.row(tap.first);
      const std::uint16_t* second = cache.row(tap.second);
      const std::uint32_t a = tap.first_weight, b = tap.second_weight;
      std::uint8_t* out = level.row(y);
      for (int x = 0; x < level.size.width; ++x)
        out[x] = static_cast<std::uint8_t>((a * first[x] + b * second[x] + 32768) >> 16);
    }
  });
}

}  // namespace facesat::cpu
