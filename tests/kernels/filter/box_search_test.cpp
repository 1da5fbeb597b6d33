// Integral histograms on a GPU against a count of pixels; and the search for a box, on the CPU and
// on a GPU, against a comparison of all places.
#include "filters/box_search.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "kernels/filter/integral_histogram.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

using gpu::HistogramScan;
using gpu::IntegralHistogram;

TEST(Histogram, BinsAreEqualPartsOfTheGreyValues) {
  for (const int bins : {1, 16, 32, 256})
    for (int value = 0; value < 256; ++value)
      EXPECT_EQ(bin_of(static_cast<std::uint8_t>(value), bins), value / (256 / bins));
  EXPECT_EQ(bin_of(255, 5), 4);
}

// ---- tables

constexpr std::uint32_t poison = 0xDEADBEEF;

// Memory for the tables of pictures of up to `size`. Everything is poisoned but the row and the
// column before each table.
class Tables {
 public:
  Tables(Size size, int bins)
      : host_(gpu::integral_histogram_bytes(size, bins) / sizeof(std::uint32_t), poison),
        on_host_(gpu::integral_histogram_in(host_.data(), size, bins)) {
    for (int bin = 0; bin < bins; ++bin) {
      for (int x = -1; x < size.width; ++x) at(bin, x, -1) = 0;
      for (int y = 0; y < size.height; ++y) at(bin, -1, y) = 0;
    }
    device_ = std::make_unique<DeviceArray<std::uint32_t>>(host_);
    view = gpu::integral_histogram_in(device_->data(), size, bins);
  }

  void poison_again() { device_->upload(host_); }

  // Expects the tables of this picture, and everything else unchanged.
  void expect(View<const std::uint8_t> picture, const std::string& what) {
    const std::vector<std::uint32_t> before = host_;
    for (int bin = 0; bin < view.bins; ++bin)
      for (int y = 0; y < picture.size.height; ++y)
        for (int x = 0; x < picture.size.width; ++x)
          at(bin, x, y) = at(bin, x - 1, y) + at(bin, x, y - 1) - at(bin, x - 1, y - 1) +
                          (bin_of(picture.row(y)[x], view.bins) == bin);
    EXPECT_TRUE(device_->download() == host_) << what;
    std::copy(before.begin(), before.end(), host_.begin());
  }

  IntegralHistogram view;

 private:
  std::uint32_t& at(int bin, int x, int y) { return on_host_.row(bin, y)[x]; }

  std::vector<std::uint32_t> host_;
  IntegralHistogram on_host_;
  std::unique_ptr<DeviceArray<std::uint32_t>> device_;
};

constexpr HistogramScan of_tiles[] = {HistogramScan::wf_tis, HistogramScan::cw_tis},
                        of_rows[] = {HistogramScan::cw_sts, HistogramScan::cw_b};

// `size`: of the greatest picture that the tables have room for.
void check_tables(std::span<const HistogramScan> scans, Size picture_size, Size size, int bins) {
  const Image<std::uint8_t> picture =
      noise(picture_size, static_cast<unsigned>(picture_size.width + bins));
  DevicePicture<std::uint8_t> input(picture_size, 77);
  input.upload(picture.view());
  Tables tables(size, bins);
  for (const HistogramScan scan : scans) {
    const std::string id(gpu::info_of(scan).id);
    const std::size_t words = gpu::histogram_workspace_bytes(scan, picture_size, bins) / 4;
    constexpr std::size_t guards = 64;
    DeviceArray<std::uint32_t> workspace(std::vector<std::uint32_t>(words + guards, poison));
    for (int run = 0; run < 2; ++run) {
      tables.poison_again();
      enqueue_integral_histogram(input.view(), tables.view, scan, workspace.data(), test_stream());
      tables.expect(std::as_const(picture).view(), ::testing::PrintToString(picture_size) +
                                                       ", bins " + std::to_string(bins) + ", " +
                                                       id + ", run " + std::to_string(run));
    }
    const std::vector<std::uint32_t> after = workspace.download();
    EXPECT_EQ(std::count(after.end() - guards, after.end(), poison), guards) << id;
  }
}

// Tiles have 32 x 32 elements.
TEST(IntegralHistogram, TilesCountThePixelsOfEachBin) {
  for (const Size size : {Size{1, 1}, {32, 32}, {31, 33}, {33, 31}, {96, 1}, {1, 97}, {65, 64}})
    under_one_schedule([&] { check_tables(of_tiles, size, size, 16); });
  under_all_schedules([&] { check_tables(of_tiles, {97, 67}, {97, 67}, 5); });
  under_one_schedule([&] { check_tables(of_tiles, {35, 70}, {35, 70}, 32); });
  for (const int bins : {1, 256})
    under_one_schedule([&] { check_tables(of_tiles, {33, 34}, {33, 34}, bins); });
}

// Tiles that are transposed have 32 x 32 elements, and blocks scan 512 elements of a row at a time.
TEST(IntegralHistogram, RowsCountThePixelsOfEachBin) {
  under_all_schedules([&] { check_tables(of_rows, {35, 3}, {35, 3}, 3); });
  for (const auto& [size, bins] : {std::pair{Size{1, 1}, 16},
                                   {{32, 33}, 1},
                                   {{7, 9}, 16},
                                   {{2, 1}, 256},
                                   {{513, 1}, 1},
                                   {{2, 513}, 1}})
    under_one_schedule([&] { check_tables(of_rows, size, size, bins); });
}

TEST(IntegralHistogram, TablesHaveRoomForSmallerPictures) {
  check_tables(of_tiles, {40, 33}, {90, 50}, 3);
  check_tables(of_rows, {40, 33}, {90, 50}, 3);
}

#if defined(FACESAT_SIMT)
TEST(IntegralHistogram, LaunchesAreThoseThatItSays) {
  constexpr int bins = 3;
  for (const Size size : {Size{32, 33}, {70, 5}}) {
    const Image<std::uint8_t> picture = noise(size, 1);
    const Tables tables(size, bins);
    for (const auto& [scan, id, title] : gpu::histogram_scans) {
      std::vector<std::byte> workspace(gpu::histogram_workspace_bytes(scan, size, bins));
      const std::size_t before = simt::counts.launches;
      enqueue_integral_histogram(picture.view(), tables.view, scan, workspace.data(),
                                 test_stream());
      EXPECT_EQ(simt::counts.launches - before,
                static_cast<std::size_t>(gpu::histogram_launches(scan, size, bins)))
          << id;
    }
  }
}
#endif

// ---- the search

// By reading every box.
BoxMatch best_of_all(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                     int reach) {
  using Order = std::tuple<int, int, int, int>;  // the least one is the best
  Order best;
  BoxMatch match;
  for (int dy = -reach; dy <= reach; ++dy)
    for (int dx = -reach; dx <= reach; ++dx) {
      const Rect here{box.x + dx, box.y + dy, box.width, box.height};
      if (here.x < 0 || here.y < 0 || here.x + here.width > gray.size.width ||
          here.y + here.height > gray.size.height)
        continue;
      Histogram counts{};
      for (int y = 0; y < here.height; ++y)
        for (int x = 0; x < here.width; ++x) ++counts[gray.row(here.y + y)[here.x + x] / 16u];
      int pixels = 0;
      for (std::size_t bin = 0; bin < counts.size(); ++bin)
        pixels += static_cast<int>(std::min(counts[bin], object[bin]));
      const Order order{-pixels, dx * dx + dy * dy, dy, dx};
      if (match.box.width > 0 && order >= best) continue;
      best = order;
      match = {here, static_cast<std::uint32_t>(pixels)};
    }
  return match;
}

std::string text_of(const BoxMatch& match) {
  return ::testing::PrintToString(match.box) + ": " + std::to_string(match.in_common);
}

BoxMatch find_on_gpu(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                     int reach) {
  const BoxPlaces places = places_of(box, reach, gray.size);
  const Rect region = places.region();
  DevicePicture<std::uint8_t> input({region.width, region.height}, 77);
  input.upload(gray.sub(region));
  Tables tables({region.width, region.height}, histogram_bins);
  enqueue_integral_histogram(input.view(), tables.view, HistogramScan::wf_tis, nullptr,
                             test_stream());
  DeviceArray<std::uint64_t> best(std::vector<std::uint64_t>(gpu::box_search_words, ~0ull));
  enqueue_box_search(tables.view, object, places, best.data(), test_stream());
  const std::uint64_t first = best.download().front();
  enqueue_box_search(tables.view, object, places, best.data(), test_stream());
  EXPECT_EQ(best.download().front(), first) << "second run";
  return match_of(first, box);
}

void check_search(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                  int reach) {
  const std::string expected = text_of(best_of_all(gray, object, box, reach));
  EXPECT_EQ(text_of(make_cpu_box_search()->find(gray, object, box, reach)), expected) << "CPU";
  under_one_schedule(
      [&] { EXPECT_EQ(text_of(find_on_gpu(gray, object, box, reach)), expected) << "GPU"; });
}

TEST(BoxSearch, FindsTheBestOfAllPlaces) {
  const Image<std::uint8_t> picture = clouds({90, 70}, 3, 4);
  const View<const std::uint8_t> gray = picture.view();
  for (const Rect& box : {Rect{30, 20, 17, 12},
                          {0, 0, 9, 9},
                          {80, 58, 10, 12},
                          {0, 0, 90, 70},
                          {40, 0, 1, 1},
                          {0, 30, 88, 3}})
    for (const int reach : {0, 1, 16}) {
      SCOPED_TRACE(::testing::PrintToString(box) + ", reach " + std::to_string(reach));
      check_search(gray, histogram_of(gray, {20, 25, 20, 15}), box, reach);
      check_search(gray, histogram_of(gray, box), box, reach);
    }
}

TEST(BoxSearch, HasAWordForEachBlockOfTheGreatestReach) {
  const Image<std::uint8_t> picture = noise({270, 270}, 8);
  const View<const std::uint8_t> gray = picture.view();
  check_search(gray, histogram_of(gray, {267, 266, 3, 4}), {134, 133, 3, 4}, greatest_reach);
}

// Of equal boxes, the nearest; then the upper, then the left one.
TEST(BoxSearch, DecidesBetweenEqualBoxes) {
  const Rect box{20, 15, 8, 6};
  const auto found = [&](const std::vector<std::pair<int, int>>& moves) {
    Image<std::uint8_t> picture = flat({50, 40}, 0);
    for (const auto& [dx, dy] : moves) picture.row(box.y + dy)[box.x + dx] = 255;
    const View<const std::uint8_t> gray = picture.view();
    Histogram object{};
    object.back() = 1;  // boxes with a white pixel
    check_search(gray, object, box, 10);
    const Rect at = make_cpu_box_search()->find(gray, object, box, 10).box;
    return std::pair(at.x - box.x, at.y - box.y);
  };
  EXPECT_EQ(found({}), std::pair(0, 0));
  EXPECT_EQ(found({{3, 2}}), std::pair(0, 0));
  EXPECT_EQ(found({{-2, 0}, {9, 0}}), std::pair(-2, 0));  // both two pixels away
  EXPECT_EQ(found({{3, -2}, {3, 7}}), std::pair(0, -2));
  EXPECT_EQ(found({{-1, 0}, {0, -1}}), std::pair(0, -1));
  EXPECT_EQ(found({{-3, 0}, {9, 0}}), std::pair(2, 0));
}

TEST(BoxSearch, FollowsAMovedPicture) {
  const Image<std::uint8_t> picture = clouds({120, 90}, 5, 6);
  const View<const std::uint8_t> gray = picture.view();
  const Rect object{50, 40, 20, 16}, before{57, 33, 20, 16};
  const BoxMatch match = make_cpu_box_search()->find(gray, histogram_of(gray, object), before, 12);
  EXPECT_EQ(match.box, object);
  EXPECT_EQ(match.in_common, 320u);
}

#if !defined(FACESAT_SIMT)

// With one search for all of them, which keeps its memory.
TEST(BoxSearch, OnAGpuFindsTheBoxesOfTheCpu) {
  const auto cpu = make_cpu_box_search(), cuda = gpu::make_cuda_box_search(0);
  for (const Size size : {Size{640, 480}, {1920, 1080}, {90, 70}}) {
    const Image<std::uint8_t> picture = clouds(size, 4, 5);
    const View<const std::uint8_t> gray = picture.view();
    const Histogram object = histogram_of(gray, {20, 25, 30, 40});
    for (const Rect& box : {Rect{30, 20, 30, 40}, {0, 0, 30, 40}, {0, 0, 60, 70}, {50, 0, 30, 40}})
      for (const int reach : {32, 0, 100})
        EXPECT_EQ(text_of(cuda->find(gray, object, box, reach)),
                  text_of(cpu->find(gray, object, box, reach)))
            << ::testing::PrintToString(size) << ", " << ::testing::PrintToString(box) << ", reach "
            << reach;
  }
}

#endif

TEST(BoxSearch, RefusesBoxesOutsideThePicture) {
  EXPECT_NO_THROW(places_of({0, 0, 10, 8}, 0, {10, 8}));
  for (const Rect& box :
       {Rect{-1, 0, 5, 5}, {0, -1, 5, 5}, {6, 0, 5, 5}, {0, 4, 5, 5}, {0, 0, 0, 5}, {0, 0, 5, 0}})
    EXPECT_THROW(places_of(box, 1, {10, 8}), ArgumentError);
  EXPECT_THROW(places_of({0, 0, 1, 1}, -1, {10, 8}), ArgumentError);
  EXPECT_THROW(places_of({0, 0, 1, 1}, greatest_reach + 1, {10, 8}), ArgumentError);
}

}  // namespace
}  // namespace facesat::test
