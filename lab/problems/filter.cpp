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
using gpu::PictureType;

template <class In, class Out>
constexpr bool is_convolution = sizeof(In) > 1 || std::is_integral_v<Out>;

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
template <class In, class Out>
class HostFilter {
 public:
  // Throws MemoryError.
  explicit HostFilter(const FilterCase& one)
      : one_(one),
        picture_(one.typed_picture<In>()),
        mask_(one.mask<W>()),
        result_(one.picture.size),
        earlier_(one.picture.size) {
    set_samples();
  }

  void poison() {
    for (int y = 0; y < one_.picture.size.height; ++y)
      std::memset(result_.row(y), 0xEE, row_bytes());
  }

  void run(const std::string& id) {
    if constexpr (sizeof(In) == 1) {
      if (gpu::is_statistic(one_.filter) || one_.filter == BenchFilter::box)
        return run_windows(id == "cpu_integral", id == "cpu_separable");
    }
    if constexpr (is_convolution<In, Out>)
      id == "cpu_separable" ? cpu::convolve_separable(picture(), mask_, one_.border, result_.view())
                            : cpu::convolve_direct(picture(), mask_, one_.border, result_.view());
  }

  const Image<Out>& result() const { return result_; }

  bool is_right() {
    if (!agrees_with_definition() || (has_earlier_ && !agrees_with_earlier())) return false;
    if (!std::exchange(has_earlier_, true)) std::swap(result_, earlier_);
    return true;
  }

 private:
  using W = gpu::WeightOf<In>;
  struct Sample {
    int x = 0, y = 0;
    Out value{};
  };

  View<const In> picture() const { return picture_.view(); }
  std::size_t row_bytes() const {
    return static_cast<std::size_t>(one_.picture.size.width) * sizeof(Out);
  }

  // Statistics of windows, of which the mean is one.
  void run_windows(bool is_integral, bool is_separable) {
    const View<const std::uint8_t> picture = this->picture();
    const View<Out> result = result_.view();
    const Radius radius = mask_.radius;
    const Border border = one_.border;
    if (is_integral)
      tables_.build(picture,
                    one_.filter == BenchFilter::skewness   ? cpu::Powers::cubes
                    : one_.filter == BenchFilter::variance ? cpu::Powers::squares
                                                           : cpu::Powers::pixels,
                    radius);
    if constexpr (std::is_same_v<Out, float>) {
      if (one_.filter == BenchFilter::skewness)
        is_integral ? cpu::skewness(tables_, radius, border, result)
                    : cpu::direct_skewness(picture, radius, border, result);
      else
        is_integral ? cpu::variance(tables_, radius, border, result)
                    : cpu::direct_variance(picture, radius, border, result);
    } else if constexpr (sizeof(Out) == 1) {
      if (one_.filter == BenchFilter::adaptive_threshold)
        is_integral
            ? cpu::adaptive_threshold(tables_, picture, radius, border, gpu::bench_offset, result)
            : cpu::direct_adaptive_threshold(picture, radius, border, gpu::bench_offset, result);
      else
        is_integral    ? cpu::box_mean(tables_, radius, border, result)
        : is_separable ? cpu::separable_box_mean(picture, radius, border, result)
                       : cpu::direct_box_mean(picture, radius, border, result);
    }
  }

  // By the definition.
  Out defined_at(int x, int y) const {
    if (gpu::is_statistic(one_.filter)) return defined_statistic_at(x, y);
    // Sums of real numbers are exact, and one rounding of a quotient to 64 bits before that to 32
    // does not change it. Sums of 32s wrap.
    using Sum = std::conditional_t<std::is_same_v<In, float>, double, std::uint32_t>;
    const auto sum = convolved_at<Sum>(picture(), mask_, one_.border, x, y);
    if constexpr (std::is_same_v<In, float>)
      return static_cast<Out>(sum / static_cast<double>(mask_.divisor));
    else
      return static_cast<Out>(
          sizeof(Out) == 1 ? rounded_pixel(static_cast<std::int32_t>(sum), mask_.divisor) : sum);
  }
  Out defined_statistic_at(int x, int y) const {
    const WindowSums sums = window_at(one_.picture, x, y, mask_.radius, one_.border);
    if (one_.filter == BenchFilter::variance) return static_cast<Out>(variance_of(sums));
    if (one_.filter == BenchFilter::skewness) return static_cast<Out>(skewness_of(sums));
    return threshold_pixel(one_.picture.row(y)[x], sums, gpu::bench_offset);
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
  Image<In> picture_;
  Mask<W> mask_;
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
// bytes per pixel, or pictures.
template <class Out>
void require_memory_of_results(Size size) {
  require_memory(static_cast<std::uint64_t>(size.area()) * (2 * sizeof(Out) + 20), "The result");
}

// Those of the ids that are the CPU's. Throws MemoryError.
std::vector<Subject> host_subjects(const FilterCase& one, const std::vector<std::string>& ids) {
  std::vector<Subject> subjects;
  gpu::visit_types(one, [&]<class In, class Out>(In, Out) {
    std::shared_ptr<HostFilter<In, Out>> filter;
    const Radius radius = one.mask<std::int32_t>().radius;
    for (const std::string& id : cpu_filter_ids(one.filter, one.type)) {
      if (!contains(ids, id)) continue;
      Subject subject{.id = id, .bytes = one.bytes()};
      if (operations_of(id, radius, one.picture.size) > most_operations) {
        subject.failure = fmt::format("a run has more than {} billion operations",
                                      most_operations / 1'000'000'000);
        subject.is_absent = true;
      } else if (!filter) {
        require_memory_of_results<Out>(one.picture.size);
        filter = std::make_shared<HostFilter<In, Out>>(one);
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
  gpu::visit_types(one, [&]<class In, class Out>(In, Out) {
    require_memory_of_results<Out>(one.picture.size);
    HostFilter<In, Out> filter(one);
    filter.run(cpu_filter_ids(one.filter, one.type).front());
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

void check_radius(BenchFilter filter, PictureType type, int radius) {
  const bool is_sobel = gpu::is_sobel(filter);
  const int greatest = is_sobel ? greatest_sobel_radius : greatest_filter_radius;
  if (radius > greatest)
    throw UsageError(fmt::format("--radius {}: {} have radii from 1 to {}", radius,
                                 is_sobel ? "Sobel's derivatives" : "filters", greatest));
  if (filter == BenchFilter::convolution && type == PictureType::f32 &&
      radius > gpu::greatest_exact_radius)
    throw UsageError(
        fmt::format("--radius {}: convolutions of 32f have radii from 1 to {}, at which their sums "
                    "are exact",
                    radius, gpu::greatest_exact_radius));
}

// Is the size that of a signal, which is a picture of one row: "N" or "2^K"?
bool is_signal(const std::string& size) {
  return size.find('x') == size.npos;
}

Size size_of(const std::string& text) {
  constexpr int most_bits = 28;
  static_assert(1 << most_bits == gpu::longest_filter_row);
  return is_signal(text) ? Size{array_length(text, most_bits), 1} : picture_size(text);
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
    sizes_type = "WxH|N|2^K";
    sizes_help =
        "Of the pictures, or the length of signals, up to 2^28, for stencil and convolution-rows; "
        "repeatable [3840x2160, or that of --image]";
    options = {
        {"--filter", fmt::format("{}", fmt::join(gpu::bench_filter_names, "|")),
         "What is computed: the mean of a window, a Gaussian, Sobel's derivative along x or y, the "
         "sum of a window along rows, a convolution along rows, one whose mask is not separable, "
         "the "
         "variance or skewness of a window, or a pixel compared with the mean of its window; "
         "repeatable [box]",
         &filter_names_},
        {"--type", "TYPE",
         "Type of the picture: 8u, 32s, 32f; for variance, skewness and adaptive-threshold 8u "
         "only; in 32s, a box is the sum of its window, not the mean; repeatable [8u]",
         &type_names_},
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
    for (const std::string& text : request.sizes) sizes_.push_back(size_of(text));
    if (filter_names_.empty()) filter_names_ = {"box"};
    if (type_names_.empty()) type_names_ = {"8u"};
    std::vector<std::string> of_gpu, known;
    for (const std::string& filter_name : filter_names_)
      for (const PictureType type : known_types(type_names_, gpu::picture_types)) {
        choose_filter(filter_name, type);
        add_new(of_gpu, gpu::filter_ids(filters_.back().filter, type));
        add_new(known, cpu_filter_ids(filters_.back().filter, type));
      }
    known.insert(known.begin(), of_gpu.begin(), of_gpu.end());
    for (const std::string& text : request.sizes)
      if (is_signal(text)) check_signal(text);
    if (!files_.output.empty() &&
        (filters_.size() > 1 || filters_.front().radii.size() > 1 || request.sizes.size() > 1))
      throw UsageError(
          "--output takes one result: choose one --filter, --type, --radius and --size");
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
    const auto& [filter, type, radii] = filters_.front();
    const FilterCase one{filter, type, {}, radii.front()};
    if (operations_of(cpu_filter_ids(filter, type).front(), one.mask<std::int32_t>().radius,
                      sizes_.front()) > most_operations)
      throw UsageError(
          "--output: the result takes the CPU too long; choose a smaller --radius or --size");
  }

  std::vector<Column> columns() const override {
    return {text_column("algorithm", -29, "id"),
            text_column("filter", -18, "filter"),
            text_column("type", -4, "type"),
            size_column(),
            {"radius", 6, [](const Json& row) { return row["radius"].dump(); }},
            figure_column("reads", 9, "reads")};
  }

  void run(const Request& request, Table& table) override {
    for (const Chosen& chosen : filters_)
      for (const Size size : sizes_)
        for (const int radius : chosen.radii) run_case(chosen, size, radius, request, table);
  }

  PageText page_text() const override {
    return {
        .title = "Filters, measured",
        .input = "picture",
        .check =
            "After each timed run every element of the result is compared with that of the CPU, "
            "except NPP’s, which rounds in its own way and replicates borders whatever "
            "the others do. Pictures of 32f have whole numbers, so that all sums are exact.",
        .floor = "a kernel that only reads every pixel and writes every element of the result",
        .bytes = "the picture once and the result once",
        .cpu = "They use all threads of the machine."};
  }

  void complete(Row& row, const Json& json) const override {
    row.type = fmt::format("{} {}", json.value("filter", ""), json.value("type", ""));
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
  // A filter that is measured, and its radii.
  struct Chosen {
    BenchFilter filter;
    PictureType type;
    std::vector<int> radii;
  };

  void choose_filter(const std::string& filter_name, PictureType type) {
    const auto filter = static_cast<BenchFilter>(
        known_word("--filter", "filter", filter_name,
                   {gpu::bench_filter_names.begin(), gpu::bench_filter_names.end()}));
    if (gpu::is_statistic(filter) && type != PictureType::u8)
      throw UsageError(
          fmt::format("--type {}: {} is for 8u only", gpu::name_of(type), filter_name));
    std::vector<int> radii;
    for (const std::string& text : radii_) radii.push_back(radius_of(text));
    for (const int radius : radii) check_radius(filter, type, radius);
    filters_.push_back({filter, type, radii.empty() ? standard_radii(filter) : radii});
  }

  // Refuses what takes pictures of several rows.
  void check_signal(const std::string& size) const {
    for (const Chosen& chosen : filters_)
      if (!gpu::is_along_rows(chosen.filter))
        throw UsageError(fmt::format(
            "--size {}: signals are for --filter stencil and convolution-rows, not for {}", size,
            gpu::name_of(chosen.filter)));
    if (!files_.image.empty() || !files_.output.empty())
      throw UsageError(fmt::format("--size {}: --image and --output are for pictures, WxH", size));
  }

  void run_case(const Chosen& chosen, Size size, int radius, const Request& request, Table& table) {
    table.begin_case();
    const auto [filter, type, radii] = chosen;
    Json fields{{"filter", gpu::name_of(filter)},
                {"type", gpu::name_of(type)},
                {"radius", radius},
                {"border", border_},
                {"width", size.width},
                {"height", size.height}};
    if (picture_) fields["image"] = files_.image;
    std::vector<std::string> ids;  // those of this filter
    for (const std::string& id : ids_)
      if (contains(gpu::filter_ids(filter, type), id) || contains(cpu_filter_ids(filter, type), id))
        ids.push_back(id);
    table.attempt(fields, [&] {
      const Image<std::uint8_t> picture =
          picture_ ? make_scene(*picture_, size).gray : noise_picture(size);
      const FilterCase one{
          filter, type, picture.view(), radius,
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

  std::vector<std::string> filter_names_, type_names_, radii_;
  PictureFiles files_;
  std::optional<Picture> picture_;  // --image
  std::string border_ = "reflect101";
  bool has_gpu_ = false;
  std::vector<Chosen> filters_;
  std::vector<Size> sizes_;
  std::vector<std::string> ids_;
};

}  // namespace

std::vector<std::string> cpu_filter_ids(BenchFilter filter, PictureType type) {
  switch (filter) {
    case BenchFilter::box:
      if (type == PictureType::u8) return {"cpu_integral", "cpu_separable", "cpu_direct"};
      [[fallthrough]];
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
