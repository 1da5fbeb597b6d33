#include "app/live/detection/cpu_comparison.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "app/common/cpu_sats.hpp"
#include "core/cpu/integral.hpp"
#include "core/stopwatch.hpp"
#include "core/table.hpp"
#include "library/support/errors.hpp"

namespace facesat::app {
namespace {

// Both integral images of a level. The memory is reused by the next level.
struct Tables {
  Table sum, squares;

  // Makes room for a level. All elements are overwritten, so that no result of an earlier run can
  // be mistaken for a new one; the borders are zero.
  void prepare(Size size) {
    for (Table* table : {&sum, &squares}) {
      table->resize(size);
      const View<std::uint32_t> view = table->view();
      std::fill_n(view.row(-1) - 1, size.width + 1, 0u);
      for (int y = 0; y < size.height; ++y) {
        view.row(y)[-1] = 0;
        std::fill_n(view.row(y), size.width, 0xEEEEEEEEu);
      }
    }
  }
  bool operator==(const Tables& other) const {
    return is_same(sum.view(), other.sum.view()) && is_same(squares.view(), other.squares.view());
  }

 private:
  static bool is_same(View<const std::uint32_t> a, View<const std::uint32_t> b) {
    for (int y = 0; y < a.size.height; ++y)
      if (!std::equal(a.row(y), a.row(y) + a.size.width, b.row(y))) return false;
    return true;
  }
};

void integrate(std::string_view id, View<const std::uint8_t> level, Tables& tables) {
  const View<std::uint32_t> sum = tables.sum.view(), squares = tables.squares.view();
  if (id == id_2r2w) {
    cpu_2r2w<Summed::values>(level, sum);
    cpu_2r2w<Summed::squares>(level, squares);
  } else if (id == id_4r1w) {
    cpu_4r1w<Summed::values>(level, sum);
    cpu_4r1w<Summed::squares>(level, squares);
  } else {
    cpu::integral(level, sum, squares);
  }
}

class CpuSats {
 public:
  explicit CpuSats(const ComparedFrame& frame) {
    FrameDetector detector(frame.cascade, frame.detect, make_cpu_backend());
    detector.detect(frame.picture.pixels);
    for (int i = 0; i < std::ssize(detector.pyramid().levels); ++i) {
      const Image<std::uint32_t> wide = detector.backend().snapshot(Snapshot::level, i);
      Image<std::uint8_t>& level = levels_.emplace_back(wide.size());
      for (int y = 0; y < wide.size().height; ++y)
        std::transform(wide.row(y), wide.row(y) + wide.size().width, level.row(y),
                       [](std::uint32_t pixel) { return static_cast<std::uint8_t>(pixel); });
    }
  }

  SatRank measure(const std::string& id) {
    const SatTimes times = median_of_runs([&] {
      SatTimes run;
      for (const Image<std::uint8_t>& level : levels_) {
        tables_.prepare(level.size());
        const Stopwatch watch(run.sat_ms);
        integrate(id, level.view(), tables_);
      }
      return run;
    });
    return {id, times.sat_ms, 0, is_correct(id), {}};
  }

 private:
  // Computes all tables once more, next to those of cpu_2r2w.
  bool is_correct(const std::string& id) {
    Tables expected;
    return std::all_of(levels_.begin(), levels_.end(), [&](const Image<std::uint8_t>& level) {
      for (Tables* tables : {&tables_, &expected}) tables->prepare(level.size());
      integrate(id, level.view(), tables_);
      integrate(id_2r2w, level.view(), expected);
      return tables_ == expected;
    });
  }

  std::vector<Image<std::uint8_t>> levels_;
  Tables tables_;
};

}  // namespace

// The pyramid is computed with the first algorithm, and shared by the others.
MeasureSat measure_on_cpu(const ComparedFrame& frame) {
  return [frame, sats = std::shared_ptr<CpuSats>()](const std::string& id) mutable {
    if (!sats) sats = std::make_shared<CpuSats>(frame);
    return sats->measure(id);
  };
}

}  // namespace facesat::app
