// The whole flow of one frame on the CPU. The rows of windows of each level are divided into bands.
// One thread resizes a band, computes its integral images and evaluates its windows, tile by tile.
// Bands are independent, so threads meet only at the end of a frame.
#include <algorithm>
#include <chrono>
#include <utility>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/backend.hpp"
#include "core/cpu/evaluate.hpp"
#include "core/cpu/gray.hpp"
#include "core/cpu/integral.hpp"
#include "core/memory.hpp"

namespace facesat {
namespace {

// Colour pixels converted between two checks of should_stop: some milliseconds of work.
constexpr int pixels_between_polls = 1 << 23;

// Working memory of a thread. The shape of its tiles depends on the cascade alone, so pictures of
// all sizes share it.
struct Workspace {
  std::unique_ptr<cpu::TileTables> tables;
  Image<std::uint8_t> pixels;  // of a tile, resized
  cpu::EvaluationMemory memory;
  std::vector<std::uint8_t> skips;  // see Evaluator::find_windows()
  std::vector<cpu::Survivor> found;

  static Workspace& of_this_thread(const cpu::TileShape& shape) {
    static thread_local Workspace workspace;
    if (!workspace.tables || workspace.tables->shape() != shape)
      workspace.tables = std::make_unique<cpu::TileTables>(shape);
    return workspace;
  }
};

// The source pixels and weights from which a level is resized.
struct LevelTaps {
  std::vector<ResizeTap> columns, rows;
};

std::vector<LevelTaps> level_taps(const Pyramid& pyramid) {
  std::vector<LevelTaps> all;
  for (const Level& level : pyramid.levels)
    all.push_back({resize_taps(pyramid.image.width, level.size.width),
                   resize_taps(pyramid.image.height, level.size.height)});
  return all;
}

// ---- pictures of whole levels, for tests and debug views: the backend itself works tile by tile

// A copy with 32 bits per element.
template <class T>
Image<std::uint32_t> widened(View<const T> from) {
  Image<std::uint32_t> to(from.size);
  for (int y = 0; y < from.size.height; ++y) std::copy_n(from.row(y), from.size.width, to.row(y));
  return to;
}

// Backend::snapshot() of `level`, `sum`, `squared_sum` or `tilted_sum`. Throws MemoryError.
Image<std::uint32_t> level_snapshot(View<const std::uint8_t> gray, const Level& level,
                                    Snapshot picture) {
  // Five bytes per pixel: one for the resized level, four for the result.
  require_memory(5 * level.size.area() + 2 * Table::bytes(level.size), "this view");
  Image<std::uint8_t> resized(level.size);
  cpu::resize(gray, resized.view(), resize_taps(gray.size.width, level.size.width),
              resize_taps(gray.size.height, level.size.height));
  const View<const std::uint8_t> pixels = std::as_const(resized).view();
  if (picture == Snapshot::level) return widened(pixels);
  Table sum, other;  // `other` is the squared or the tilted integral image
  sum.resize(level.size);
  other.resize(level.size);
  if (picture == Snapshot::tilted_sum)
    cpu::tilted_integral(pixels, other.view());
  else
    cpu::integral(pixels, sum.view(), other.view());
  return widened(std::as_const(picture == Snapshot::sum ? sum : other).view());
}

class CpuBackend final : public Backend {
 public:
  void prepare(std::shared_ptr<const Cascade> cascade, const Pyramid& pyramid,
               const DetectOptions& options) override {
    check_stop(should_stop_);
    pyramid_ = &pyramid;
    options_ = options;
    if (!gray_.has_room(pyramid.image)) require_memory(pyramid.image.area(), "this image");
    gray_.resize(pyramid.image);
    shared_ = cpu::shared_evaluator(cascade);
    levels_ = level_taps(pyramid);
    plan_bands();
    require_memory_for_tables();
  }

  void stop_when(ShouldStop should_stop) override { should_stop_ = std::move(should_stop); }

  void load(View<const Bgr> frame) override { load_colour(frame); }
  void load(View<const Rgb> frame) override { load_colour(frame); }

  void load(View<const std::uint8_t> gray) override {
    times_ = {};
    const Stopwatch watch(times_[Step::gray]);
    copy(gray, gray_.view());
    finish_gray();
  }

  void run() override {
    double ms = 0;
    windows_.clear();
    check_stop(should_stop_);
    {
      const Stopwatch watch(ms);
      tbb::parallel_for(
          std::size_t{0}, bands_.size(), [&](std::size_t b) { find_windows(bands_[b]); },
          tbb::simple_partitioner());
    }
    for (const Band& band : bands_) {
      check_stop(should_stop_);
      windows_.insert(windows_.end(), band.windows.begin(), band.windows.end());
    }
    divide_time(ms);
  }

  std::size_t collect() override { return windows_.size(); }
  std::span<const Window> windows() override { return windows_; }
  std::vector<Face> group() override {
    return group_faces(windows_, options_.min_neighbors, should_stop_);
  }
  StepTimes times() const override { return times_; }

  Image<std::uint32_t> snapshot(Snapshot picture, int index) override {
    if (picture == Snapshot::depth) return depths(index);
    if (picture == Snapshot::gray) return widened(std::as_const(gray_).view());
    if (picture == Snapshot::tilted_sum && !shared_->shape.tilted) return {};
    return level_snapshot(gray_.view(), pyramid_->levels[index], picture);
  }

 private:
  using Clock = std::chrono::steady_clock;

  struct StepDurations {
    Clock::duration resize{}, sat{}, evaluate{};
  };
  // Rows of windows of one level: the unit of parallel work, and its results.
  struct Band {
    int level, first_row, last_row;
    std::vector<Window> windows;
    StepDurations times{};
  };

  template <class Pixel>
  void load_colour(View<const Pixel> frame) {
    times_ = {};
    const Stopwatch watch(times_[Step::gray]);
    const auto [width, height] = frame.size;
    const int rows = std::max(1, pixels_between_polls / std::max(1, width));
    for (int y = 0; y < height; y += rows) {
      check_stop(should_stop_);
      const Rect part{0, y, width, std::min(rows, height - y)};
      cpu::to_gray(frame.sub(part), gray_.view().sub(part));
    }
    finish_gray();
  }

  void finish_gray() {
    check_stop(should_stop_);
    if (options_.equalize) cpu::equalize(gray_.view(), gray_.view());
  }

  void plan_bands() {
    bands_.clear();
    for (int i = 0; i < std::ssize(pyramid_->levels); ++i) {
      const Level& level = pyramid_->levels[i];
      const int rows = cpu::tile_extent.height / level.step;
      for (int row = 0; row < level.grid.height; row += rows)
        bands_.push_back({i, row, std::min(row + rows, level.grid.height), {}});
    }
  }

  // Each thread gets tables. Those of usual windows take hardly any memory.
  void require_memory_for_tables() const {
    constexpr std::uint64_t hardly_any = 16 << 20;
    const std::uint64_t bytes = shared_->shape.bytes();
    const auto threads =
        std::min(bands_.size(), static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
    if (bytes > hardly_any) require_memory(threads * bytes, "a cascade with windows of this size");
  }

  // Builds the tiles of a band, from left to right, and calls visit() for each. Their times are
  // added to `times`.
  template <class Visit>
  void for_each_tile(const Band& band, StepDurations& times, Visit visit) const {
    const Level& level = pyramid_->levels[band.level];
    Workspace& workspace = Workspace::of_this_thread(shared_->shape);
    const Size window = pyramid_->window;
    const int step = level.step, columns = cpu::tile_extent.width / step;
    StopMeter meter(should_stop_);
    for (int column = 0; column < level.grid.width; column += columns) {
      check_stop(should_stop_);
      const Size grid{std::min(columns, level.grid.width - column), band.last_row - band.first_row};
      const Rect place{column * step, band.first_row * step, (grid.width - 1) * step + window.width,
                       (grid.height - 1) * step + window.height};
      const auto begin = Clock::now();
      const View<const std::uint8_t> pixels = part_of(band.level, place, workspace.pixels);
      const auto resized = Clock::now();
      const cpu::Tile tile = workspace.tables->build(pixels, grid, step);
      const auto summed = Clock::now();
      visit(tile, column, workspace, meter);
      times.resize += resized - begin;
      times.sat += summed - resized;
      times.evaluate += Clock::now() - summed;
    }
  }

  // The pixels of a rectangle of a level. A level of the frame's size needs no resizing.
  View<const std::uint8_t> part_of(int index, const Rect& place,
                                   Image<std::uint8_t>& memory) const {
    if (pyramid_->levels[index].size == gray_.size()) return std::as_const(gray_).view().sub(place);
    memory.resize({place.width, place.height});
    const LevelTaps& taps = levels_[index];
    cpu::resize(gray_.view(), memory.view(), std::span(taps.columns).subspan(place.x, place.width),
                std::span(taps.rows).subspan(place.y, place.height));
    return memory.view();
  }

  // Finds the windows of a band that pass all stages.
  void find_windows(Band& band) const {
    const Level& level = pyramid_->levels[band.level];
    band.times = {};
    band.windows.clear();
    Workspace& workspace = Workspace::of_this_thread(shared_->shape);
    workspace.skips.assign(band.last_row - band.first_row, 0);
    for_each_tile(band, band.times,
                  [&](const cpu::Tile& tile, int column, Workspace& work, StopMeter& meter) {
                    work.found.clear();
                    shared_->evaluator->find_windows(tile, options_.scan == Scan::opencv,
                                                     work.skips.data(), work.memory, work.found,
                                                     meter);
                    for (const cpu::Survivor& c : work.found) {
                      const int x = (column + c.column) * level.step,
                                y = (band.first_row + c.row) * level.step;
                      band.windows.push_back({band.level, x, y, c.score,
                                              window_in_image(level, pyramid_->window, x, y)});
                    }
                  });
    std::sort(band.windows.begin(), band.windows.end(), [](const Window& a, const Window& b) {
      return std::pair(a.y, a.x) < std::pair(b.y, b.x);
    });
  }

  // Bands run in parallel: the frame's wall-clock time is divided among the steps in proportion to
  // their times summed over all bands.
  void divide_time(double ms) {
    StepDurations sums;
    for (const Band& band : bands_) {
      sums.resize += band.times.resize;
      sums.sat += band.times.sat;
      sums.evaluate += band.times.evaluate;
    }
    const auto [resize, sat, evaluate] = sums;
    const auto all = static_cast<double>((resize + sat + evaluate).count());
    const auto part = [&](Clock::duration d) {
      return all > 0 ? ms * static_cast<double>(d.count()) / all : 0;
    };
    times_[Step::resize] = part(resize);
    times_[Step::sat] = part(sat);
    times_[Step::evaluate] = part(evaluate);
  }

  // For each window of a level, the number of stages that it passes.
  Image<std::uint32_t> depths(int index) const {
    Image<std::uint32_t> result(pyramid_->levels[index].grid);
    StepDurations times;  // not used: nobody asks for the times of a snapshot
    for (const Band& band : bands_)
      if (band.level == index)
        for_each_tile(band, times,
                      [&](const cpu::Tile& tile, int column, Workspace&, StopMeter& meter) {
                        for (int row = 0; row < tile.grid.height; ++row)
                          shared_->evaluator->depths(
                              tile, row, result.row(band.first_row + row) + column, meter);
                      });
    return result;
  }

  const Pyramid* pyramid_ = nullptr;
  DetectOptions options_;
  ShouldStop should_stop_;
  std::shared_ptr<const cpu::SharedEvaluator> shared_;
  std::vector<LevelTaps> levels_;
  std::vector<Band> bands_;
  Image<std::uint8_t> gray_;
  std::vector<Window> windows_;
  StepTimes times_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend() {
  return std::make_unique<CpuBackend>();
}

}  // namespace facesat
