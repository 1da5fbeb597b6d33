// facesat bench filter: every convolution of kernels/filter and the filters by integral images, on
// noise or on a picture. They are compared with the floor (a kernel that only reads the picture and
// writes the result), NPP and the CPU. Without a GPU, only the CPU's algorithms run.
#include "lab/problems/filter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include "core/memory.hpp"
#include "core/parse_number.hpp"
#include "filters/cpu/filter.hpp"
#include "filters/definition.hpp"
#include "filters/picture_filter.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"
#include "lab/problem.hpp"
#include "lab/scene.hpp"
#include "support/errors.hpp"

namespace facesat::lab {
namespace {

using gpu::BenchFilter;
using gpu::FilterCase;

// Random pixels, all values equally likely.
Image<std::uint8_t> noise_picture(Size size) {
  require_memory(static_cast<std::uint64_t>(size.area()), "The picture");
  Image<std::uint8_t> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    std::generate_n(picture.row(y), size.width,
                    [&] { return static_cast<std::uint8_t>(random() >> 16); });
  return picture;
}

// The CPU's algorithms on one picture. Results are checked against each other in every element, and
// against the definitions (filters/definition.hpp) in all pixels of a small picture or some of
// a large one.
template <class Out>
class HostFilter {
 public:
  // Throws MemoryError.
  explicit HostFilter(const FilterCase& one)
      : one_(one), mask_(one.mask()), result_(one.picture.size), earlier_(one.picture.size) {
    set_samples();
  }

  void poison() {
    for (int y = 0; y < one_.picture.size.height; ++y)
      std::memset(result_.row(y), 0xEE, row_bytes());
  }

  void run(const std::string& id) {
    const View<const std::uint8_t> picture = one_.picture;
    const View<Out> result = result_.view();
    const Radius radius = mask_.radius;
    const Border border = one_.border;
    const bool is_integral = id == "cpu_integral", is_separable = id == "cpu_separable";
    if (is_integral)
      tables_.build(picture,
                    one_.filter == BenchFilter::skewness   ? cpu::Powers::cubes
                    : one_.filter == BenchFilter::variance ? cpu::Powers::squares
                                                           : cpu::Powers::pixels,
                    radius);
    if constexpr (std::is_same_v<Out, float>) {
      if (one_.filter == BenchFilter::skewness) {
        is_integral ? cpu::skewness(tables_, radius, border, result)
                    : cpu::direct_skewness(picture, radius, border, result);
        return;
      }
      is_integral ? cpu::variance(tables_, radius, border, result)
                  : cpu::direct_variance(picture, radius, border, result);
      return;
    } else if constexpr (std::is_same_v<Out, std::uint8_t>) {
      if (one_.filter == BenchFilter::adaptive_threshold) {
        is_integral
            ? cpu::adaptive_threshold(tables_, picture, radius, border, gpu::bench_offset, result)
            : cpu::direct_adaptive_threshold(picture, radius, border, gpu::bench_offset, result);
        return;
      }
      if (one_.filter == BenchFilter::box) {
        is_integral    ? cpu::box_mean(tables_, radius, border, result)
        : is_separable ? cpu::separable_box_mean(picture, radius, border, result)
                       : cpu::direct_box_mean(picture, radius, border, result);
        return;
      }
    }
    if constexpr (std::is_integral_v<Out>)
      is_separable ? cpu::convolve_separable(picture, mask_, border, result)
                   : cpu::convolve_direct(picture, mask_, border, result);
  }

  const Image<Out>& result() const { return result_; }

  bool is_right() {
    if (!agrees_with_definition() || (has_earlier_ && !agrees_with_earlier())) return false;
    if (!std::exchange(has_earlier_, true)) std::swap(result_, earlier_);
    return true;
  }

 private:
  struct Sample {
    int x = 0, y = 0;
    Out value{};
  };

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(one_.picture.size.width) * sizeof(Out);
  }

  // By the definition.
  Out defined_at(int x, int y) const {
    const auto sums = [&] { return window_at(one_.picture, x, y, mask_.radius, one_.border); };
    switch (one_.filter) {
      case BenchFilter::variance:
        return static_cast<Out>(variance_of(sums()));
      case BenchFilter::skewness:
        return static_cast<Out>(skewness_of(sums()));
      case BenchFilter::adaptive_threshold:
        return threshold_pixel(one_.picture.row(y)[x], sums(), gpu::bench_offset);
      case BenchFilter::box:
        return rounded_pixel(sums().sum, mask_.divisor);
      default:
        break;
    }
    const auto sum = convolved_at<std::int64_t>(one_.picture, mask_, one_.border, x, y);
    return static_cast<Out>(sizeof(Out) == 1 ? rounded_pixel(sum, mask_.divisor) : sum);
  }

  // All pixels, or some that are spread over the picture.
  void set_samples() {
    constexpr std::int64_t checked_operations = std::int64_t{1} << 26;
    const auto area = static_cast<std::uint64_t>(one_.picture.size.area());
    const auto width = static_cast<std::uint64_t>(one_.picture.size.width);
    const auto most = static_cast<std::uint64_t>(checked_operations / mask_.radius.area() + 16);
    samples_.resize(static_cast<std::size_t>(std::min(area, most)));
    tbb::parallel_for(std::size_t{0}, samples_.size(), [&](std::size_t i) {
      const std::uint64_t pixel = area <= most ? i : i * 0x9E3779B97F4A7C15u % area;
      const auto x = static_cast<int>(pixel % width), y = static_cast<int>(pixel / width);
      samples_[i] = {x, y, defined_at(x, y)};
    });
  }

  bool agrees_with_definition() const {
    return std::all_of(samples_.begin(), samples_.end(), [&](const Sample& sample) {
      return result_.row(sample.y)[sample.x] == sample.value;
    });
  }

  bool agrees_with_earlier() const {
    for (int y = 0; y < one_.picture.size.height; ++y)
      if (std::memcmp(result_.row(y), earlier_.row(y), row_bytes()) != 0) return false;
    return true;
  }

  FilterCase one_;
  Mask<std::int32_t> mask_;
  Image<Out> result_, earlier_;  // earlier_: the first one that was right
  bool has_earlier_ = false;
  std::vector<Sample> samples_;
  cpu::IntegralImages tables_;
};

// Of a run of one of the CPU's algorithms.
constexpr std::int64_t most_operations = std::int64_t{1} << 36;

// The multiplications or additions of a run, as far as they depend on the radius.
std::int64_t operations_of(const std::string& id, Radius radius, Size size) {
  const std::int64_t per_pixel = id == "cpu_direct"      ? radius.area()
                                 : id == "cpu_separable" ? radius.columns() + radius.rows()
                                                         : 0;
  return per_pixel * static_cast<std::int64_t>(size.area());
}

// Throws MemoryError unless there is room for the result twice, and integral images of up to 20
// bytes per pixel.
template <class Out>
void require_memory_of_results(Size size) {
  require_memory(static_cast<std::uint64_t>(size.area()) * (2 * sizeof(Out) + 20), "The result");
}

// Those of the ids that are the CPU's. Throws MemoryError.
std::vector<Subject> host_subjects(const FilterCase& one, const std::vector<std::string>& ids) {
  std::vector<Subject> subjects;
  gpu::visit_result_type(one.filter, [&]<class Out>(Out) {
    std::shared_ptr<HostFilter<Out>> filter;
    const Radius radius = one.mask().radius;
    for (const std::string& id : cpu_filter_ids(one.filter)) {
      if (!contains(ids, id)) continue;
      Subject subject{.id = id, .bytes = one.bytes()};
      if (operations_of(id, radius, one.picture.size) > most_operations) {
        subject.failure = fmt::format("a run has more than {} billion operations",
                                      most_operations / 1'000'000'000);
        subject.is_absent = true;
      } else if (!filter) {
        require_memory_of_results<Out>(one.picture.size);
        filter = std::make_shared<HostFilter<Out>>(one);
      }
      subject.open = [filter, id] {
        return on_host([=] { filter->run(id); }, [=] { return filter->is_right(); },
                       [=] { filter->poison(); });
      };
      subjects.push_back(std::move(subject));
    }
  });
  return subjects;
}

// The result by the CPU's first algorithm; one of more than 8 bits from its least value, which
// becomes 0, to its greatest, 255. Throws MemoryError.
Image<std::uint8_t> visible_result(const FilterCase& one) {
  Image<std::uint8_t> visible(one.picture.size);
  gpu::visit_result_type(one.filter, [&]<class Out>(Out) {
    require_memory_of_results<Out>(one.picture.size);
    HostFilter<Out> filter(one);
    filter.run(cpu_filter_ids(one.filter).front());
    double least = 0, greatest = 255;
    const auto each = [&](auto visit) {
      for (int y = 0; y < one.picture.size.height; ++y)
        for (int x = 0; x < one.picture.size.width; ++x)
          visit(static_cast<double>(filter.result().row(y)[x]), visible.row(y)[x]);
    };
    if constexpr (sizeof(Out) > 1) {
      least = std::numeric_limits<double>::max(), greatest = -least;
      each([&](double value, std::uint8_t) {
        least = std::min(least, value), greatest = std::max(greatest, value);
      });
    }
    const double scale = greatest > least ? 255 / (greatest - least) : 0;
    each([&](double value, std::uint8_t& pixel) {
      pixel = static_cast<std::uint8_t>(std::lround((value - least) * scale));
    });
  });
  return visible;
}

int radius_of(const std::string& text) {
  const auto radius = parse_number<int>(text);
  if (!radius || *radius < 1)
    throw UsageError(
        fmt::format("--radius: expected a whole number of at least 1, not \"{}\"", text));
  return *radius;
}

void check_radius(BenchFilter filter, int radius) {
  const bool is_sobel = gpu::is_sobel(filter);
  const int greatest = is_sobel ? greatest_sobel_radius : greatest_filter_radius;
  if (radius > greatest)
    throw UsageError(fmt::format("--radius {}: {} have radii from 1 to {}", radius,
                                 is_sobel ? "Sobel's derivatives" : "filters", greatest));
}

// The radii that are measured where none are given.
std::vector<int> standard_radii(BenchFilter filter) {
  if (gpu::is_sobel(filter)) return {1, 2, 3};
  return {1, 2, 3, 5, 7, 10, 15};
}

class FilterProblem final : public Problem {
 public:
  FilterProblem() {
    name = "filter";
    help = "Convolutions and other filters: microseconds per picture";
    algorithms_type = "ID|all";
    algorithms_help =
        "facesat_*, integral_box, lecture_*: the GPU's convolutions; integral_statistics, "
        "direct_statistics, for variance, skewness and adaptive-threshold; three_boxes, for "
        "gaussian; "
        "peer_npp: NVIDIA's NPP; cpu_integral, cpu_separable, cpu_direct; all; repeatable [all]";
    sizes_help = "Of the pictures; repeatable [3840x2160, or that of --image]";
    options = {
        {"--filter", fmt::format("{}", fmt::join(gpu::bench_filter_names, "|")),
         "What is computed: the mean of a window, a Gaussian, Sobel's derivative along x or y, the "
         "sum of a window along rows, a convolution along rows, one whose mask is not separable, "
         "the "
         "variance or skewness of a window, or a pixel compared with the mean of its window; "
         "repeatable [box]",
         &filter_names_},
        {"--radius", "R",
         "Of the window, up to 1450, for Sobel's up to 6; repeatable [1, 2, 3, 5, 7, 10, 15, for "
         "Sobel's 1, 2, 3]",
         &radii_},
        {"--border", "", "What lies beyond the edges of the picture [reflect101]",
         Option::Choice{{border_names.begin(), border_names.end()}, &border_}},
        {"--image", "FILE", "A picture, in grey, cropped at the top left to each --size [noise]",
         &files_.image},
        {"--output", "FILE",
         "Write the result to this .png file; one of more than 8 bits from its least value, which "
         "becomes black, to its greatest",
         &files_.output}};
    references = {
        {"floor", {"A kernel that only reads every pixel and writes every element of the result"}},
        {"integral_statistics", {"Sums of windows from integral images (summed area tables)"}},
        {"direct_statistics", {"Sums over every pixel of the window"}},
        {"three_boxes", {"An approximation of the Gaussian: three boxes one after the other"}},
        {"peer_npp", {"NPP, NVIDIA’s library of image processing"}},
        {"cpu_integral", {"Sums of windows from an integral image (summed area table)"}},
        {"cpu_separable", {"Along rows, then along columns"}},
        {"cpu_direct", {"Every pixel of the window"}}};
  }

  std::string choose(const Request& request) override {
    if (request.sizes.empty() && files_.image.empty()) sizes_ = {{3840, 2160}};
    for (const std::string& text : request.sizes) sizes_.push_back(picture_size(text));
    if (filter_names_.empty()) filter_names_ = {"box"};
    std::vector<std::string> of_gpu, known;
    for (const std::string& filter_name : filter_names_) {
      const auto filter = static_cast<BenchFilter>(
          known_word("--filter", "filter", filter_name,
                     {gpu::bench_filter_names.begin(), gpu::bench_filter_names.end()}));
      std::vector<int> radii;
      for (const std::string& text : radii_) radii.push_back(radius_of(text));
      for (const int radius : radii) check_radius(filter, radius);
      filters_.emplace_back(filter, radii.empty() ? standard_radii(filter) : radii);
      add_new(of_gpu, gpu::filter_ids(filter));
      add_new(known, cpu_filter_ids(filter));
    }
    known.insert(known.begin(), of_gpu.begin(), of_gpu.end());
    if (!files_.output.empty() &&
        (filters_.size() > 1 || filters_.front().second.size() > 1 || request.sizes.size() > 1))
      throw UsageError("--output takes one result: choose one --filter, --radius and --size");
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    for (const std::string& id : request.algorithms) {
      if (id == "all") continue;
      if (!contains(known, id))
        refuse_unknown("--algorithm", id,
                       fmt::format("algorithm of {}", fmt::join(filter_names_, ", ")),
                       {known.begin(), known.end()});
      if (contains(of_gpu, id)) require_gpu("--algorithm " + id, no_gpu);
    }
    const bool wants_all_ids = wants_all(request.algorithms);
    ids_ = wants_all_ids ? known : request.algorithms;
    return wants_all_ids ? no_gpu : "";
  }

  std::vector<std::pair<std::string, std::string>> further_files() const override {
    return {{"--output", files_.output}};
  }

  void prepare(const Request& request) override {
    files_.require_writable("the result of a filter");
    if (!files_.image.empty()) {
      picture_ = read_scene_picture(files_.image);
      sizes_ = scene_sizes(request.sizes, picture_->pixels.size);
      for (const Size size : sizes_) picture_size(fmt::format("{}x{}", size.width, size.height));
    }
    if (files_.output.empty()) return;
    const auto& [filter, radii] = filters_.front();
    const FilterCase one{filter, {}, radii.front()};
    if (operations_of(cpu_filter_ids(filter).front(), one.mask().radius, sizes_.front()) >
        most_operations)
      throw UsageError(
          "--output: the result takes the CPU too long; choose a smaller --radius or --size");
  }

  std::vector<Column> columns() const override {
    return {text_column("algorithm", -29, "id"),
            text_column("filter", -18, "filter"),
            size_column(),
            {"radius", 6, [](const Json& row) { return row["radius"].dump(); }},
            figure_column("reads", 9, "reads")};
  }

  void run(const Request& request, Table& table) override {
    for (const auto& [filter, radii] : filters_)
      for (const Size size : sizes_)
        for (const int radius : radii) run_case(filter, size, radius, request, table);
  }

  PageText page_text() const override {
    return {
        .title = "Filters, measured",
        .input = "picture",
        .check =
            "After each timed run every element of the result is compared with that of the CPU, "
            "except NPP’s, which rounds in its own way and replicates borders whatever "
            "the others do.",
        .floor = "a kernel that only reads every pixel and writes every element of the result",
        .bytes = "the picture once and the result once",
        .cpu = "They use all threads of the machine."};
  }

  void complete(Row& row, const Json& json) const override {
    row.type = json.value("filter", "");
    row.section = fmt::format("{} {}x{}", row.type, row.width, row.height);
    row.value = json.value("radius", 0);
    row.settings = fmt::format("radius {}", json.value("radius", 0));
    row.is_part = json.value("valid_part", false);
  }

  std::string heading(const Row& row, const Json& rows) const override {
    return fmt::format("{}, border {}", size_text(row), rows.front().value("border", ""));
  }

  std::string section(const Rows& rows, const Looks& looks) const override {
    // Algorithms that compute a part of the result have less to do.
    const Rows comparable = filtered(rows, [](const Row& row) { return !row.is_part; });
    const std::string chart = radius_chart(rows, looks);
    return radius_comparisons(comparable) + (chart.empty() ? order_charts(rows) : chart) +
           medians_over_radii(rows, comparable) + reads_over_radii(rows) +
           "<h3>All figures</h3>\n" + figures_table(rows);
  }

  Explanation explain(const std::string& id) const override {
    return explanation_of(gpu::find_filter(id));
  }

 private:
  void run_case(BenchFilter filter, Size size, int radius, const Request& request, Table& table) {
    table.begin_case();
    Json fields{{"filter", gpu::bench_filter_names[static_cast<std::size_t>(filter)]},
                {"radius", radius},
                {"border", border_},
                {"width", size.width},
                {"height", size.height}};
    if (picture_) fields["image"] = files_.image;
    std::vector<std::string> ids;  // those of this filter
    for (const std::string& id : ids_)
      if (contains(gpu::filter_ids(filter), id) || contains(cpu_filter_ids(filter), id))
        ids.push_back(id);
    table.attempt(fields, [&] {
      const Image<std::uint8_t> picture =
          picture_ ? make_scene(*picture_, size).gray : noise_picture(size);
      const FilterCase one{
          filter, picture.view(), radius,
          static_cast<Border>(known_word("--border", "border", border_,
                                         {border_names.begin(), border_names.end()}))};
      if (!files_.output.empty()) write_gray(files_.output, visible_result(one));
      if (has_gpu_)
        table.attempt(fields, [&] {
          const GpuSubjects gpu = gpu::filter_subjects(one, request.device, ids);
          table.measure(fields, gpu.subjects, request.runs, gpu.room, request.algorithms);
        });
      table.measure(fields, host_subjects(one, ids), request.runs, 0, request.algorithms);
    });
  }

  std::vector<std::string> filter_names_, radii_;
  PictureFiles files_;
  std::optional<Picture> picture_;  // --image
  std::string border_ = "reflect101";
  bool has_gpu_ = false;
  std::vector<std::pair<BenchFilter, std::vector<int>>> filters_;
  std::vector<Size> sizes_;
  std::vector<std::string> ids_;
};

}  // namespace

std::vector<std::string> cpu_filter_ids(BenchFilter filter) {
  switch (filter) {
    case BenchFilter::box:
      return {"cpu_integral", "cpu_separable", "cpu_direct"};
    case BenchFilter::gaussian:
    case BenchFilter::sobel:
    case BenchFilter::sobel_y:
    case BenchFilter::stencil:
    case BenchFilter::convolution_rows:
      return {"cpu_separable", "cpu_direct"};
    case BenchFilter::convolution:
      return {"cpu_direct"};
    case BenchFilter::variance:
    case BenchFilter::adaptive_threshold:
    case BenchFilter::skewness:
      return {"cpu_integral", "cpu_direct"};
  }
  return {};
}

std::unique_ptr<Problem> filter_problem() {
  return std::make_unique<FilterProblem>();
}

}  // namespace facesat::lab
