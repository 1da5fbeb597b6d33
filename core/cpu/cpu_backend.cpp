// The whole flow of one frame on the CPU, one group of levels after the other.
#include <algorithm>
#include <cstring>

#include <tbb/parallel_for.h>

#include "core/backend.hpp"
#include "core/cpu/evaluate.hpp"
#include "core/cpu/gray.hpp"
#include "core/cpu/integral.hpp"
#include "core/cpu/resize.hpp"
#include "core/memory.hpp"
#include "core/stopwatch.hpp"
#include "core/table.hpp"

namespace facesat {
namespace {

struct LevelTaps {
  std::vector<ResizeTap> columns, rows;
};

class CpuBackend final : public Backend {
 public:
  void prepare(const Cascade& cascade, const Pyramid& pyramid,
               const DetectOptions& options) override {
    pyramid_ = &pyramid;
    options_ = options;
    const Size atlas = pyramid.atlas();
    const bool tilted = cascade.has_tilted();
    require_memory(pyramid.image.area() + atlas.area() + Table::bytes(atlas) * (tilted ? 3 : 2),
                   "this image");
    gray_.resize(pyramid.image);
    atlas_.resize(atlas);
    sum_.resize(atlas);
    squared_sum_.resize(atlas);
    if (tilted) tilted_sum_.resize(atlas);
    has_tilted_ = tilted;
    const std::ptrdiff_t pitch = sum_.view().pitch;
    evaluator_ = cascade.kind == FeatureKind::haar ? cpu::make_haar_evaluator(cascade, pitch)
                                                   : cpu::make_lbp_evaluator(cascade, pitch);
    taps_.clear();
    for (const Level& level : pyramid.levels) {
      LevelTaps& taps = taps_.emplace_back();
      taps.columns.resize(level.size.width);
      taps.rows.resize(level.size.height);
      resize_taps(pyramid.image.width, taps.columns);
      resize_taps(pyramid.image.height, taps.rows);
    }
  }

  void load(View<const Bgr> frame) override {
    times_ = {};
    const Stopwatch watch(times_[Step::gray]);
    cpu::to_gray(frame, gray_.view());
    finish_gray();
  }

  void load(View<const std::uint8_t> gray) override {
    times_ = {};
    const Stopwatch watch(times_[Step::gray]);
    copy(gray, gray_.view());
    finish_gray();
  }

  void run() override {
    const double gray_ms = times_[Step::gray];
    times_ = {};
    times_[Step::gray] = gray_ms;
    windows_.clear();
    for (int g = 0; g < static_cast<int>(pyramid_->groups.size()); ++g) {
      build(g);
      evaluate(pyramid_->groups[g]);
    }
  }

  std::span<const Window> collect() override { return windows_; }
  StepTimes times() const override { return times_; }

  // Tables beyond the caches cost bandwidth; an atlas of this size still keeps many threads busy.
  std::size_t max_atlas_pixels() const override { return 16 << 20; }

  Image<std::uint32_t> snapshot(Picture picture, int index) override {
    if (picture == Picture::gray) return widened(View<const std::uint8_t>(gray_.view()));
    const Level& level = pyramid_->levels[index];
    if (level.group != built_group_) build(level.group);
    const Rect place{level.x, level.y, level.size.width, level.size.height};
    switch (picture) {
      case Picture::sum:
        return widened(tables().sum.sub(place));
      case Picture::squared_sum:
        return widened(tables().squared_sum.sub(place));
      case Picture::tilted_sum:
        return has_tilted_ ? widened(tables().tilted.sub(place)) : Image<std::uint32_t>();
      case Picture::depth:
        return depths(level);
      default:
        return widened(View<const std::uint8_t>(atlas_.view()).sub(place));
    }
  }

 private:
  // A row band of one level: the unit of parallel evaluation.
  struct Band {
    int level, first_row, last_row;
  };
  static constexpr int band_windows = 4096;

  template <class T>
  static Image<std::uint32_t> widened(View<const T> from) {
    Image<std::uint32_t> to(from.size);
    for (int y = 0; y < from.size.height; ++y) std::copy_n(from.row(y), from.size.width, to.row(y));
    return to;
  }

  void finish_gray() {
    if (options_.equalize) cpu::equalize(gray_.view(), gray_.view());
    built_group_ = -1;
  }

  cpu::Tables tables() const {
    return {sum_.view(), squared_sum_.view(),
            has_tilted_ ? tilted_sum_.view() : View<const std::uint32_t>()};
  }

  // Resizes a group's levels into the atlas and sums it up.
  void build(int g) {
    const LevelGroup& group = pyramid_->groups[g];
    const View<std::uint8_t> atlas =
        atlas_.view().sub({0, 0, group.atlas.width, group.atlas.height});
    {
      const Stopwatch watch(times_[Step::resize]);
      for (int y = 0; y < atlas.size.height; ++y) std::memset(atlas.row(y), 0, atlas.size.width);
      for (int i = group.first; i < group.first + group.count; ++i) {
        const Level& level = pyramid_->levels[i];
        cpu::resize(gray_.view(),
                    atlas.sub({level.x, level.y, level.size.width, level.size.height}),
                    taps_[i].columns, taps_[i].rows);
      }
    }
    const Stopwatch watch(times_[Step::sat]);
    cpu::integral(atlas, sum_.view(), squared_sum_.view());
    if (has_tilted_) cpu::tilted_integral(atlas, tilted_sum_.view());
    built_group_ = g;
  }

  void evaluate(const LevelGroup& group) {
    const Stopwatch watch(times_[Step::evaluate]);
    std::vector<Band> bands;
    for (int i = group.first; i < group.first + group.count; ++i) {
      const Size grid = pyramid_->levels[i].grid;
      const int rows = std::max(1, band_windows / std::max(1, grid.width));
      for (int row = 0; row < grid.height; row += rows)
        bands.push_back({i, row, std::min(row + rows, grid.height)});
    }
    std::vector<std::vector<Window>> found(bands.size());
    tbb::parallel_for(std::size_t{0}, bands.size(), [&](std::size_t b) {
      const Band& band = bands[b];
      evaluator_->scan(tables(), pyramid_->levels[band.level], band.level, options_.scan,
                       band.first_row, band.last_row, found[b]);
    });
    for (const auto& part : found) windows_.insert(windows_.end(), part.begin(), part.end());
  }

  Image<std::uint32_t> depths(const Level& level) const {
    Image<std::uint32_t> result(level.grid);
    tbb::parallel_for(0, level.grid.height,
                      [&](int row) { evaluator_->depths(tables(), level, row, result.row(row)); });
    return result;
  }

  const Pyramid* pyramid_ = nullptr;
  DetectOptions options_;
  std::unique_ptr<cpu::Evaluator> evaluator_;
  std::vector<LevelTaps> taps_;
  Image<std::uint8_t> gray_, atlas_;
  Table sum_, squared_sum_, tilted_sum_;
  bool has_tilted_ = false;
  int built_group_ = -1;
  std::vector<Window> windows_;
  StepTimes times_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace facesat
