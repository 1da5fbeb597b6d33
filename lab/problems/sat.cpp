// facesat bench sat: every SAT algorithm (summed area table, also called integral image) on
// pictures whose sums are exact. They are compared with the floor (a kernel that only reads the
// picture and writes the table), NVIDIA's libraries and the CPU. Without a GPU, only the CPU's
// algorithms run.
#include "lab/problems/sat.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "core/cpu/integral.hpp"
#include "core/memory.hpp"
#include "lab/micro.hpp"
#include "lab/page/charts.hpp"
#include "lab/page/text.hpp"
#include "lab/problem.hpp"
#include "lab/problems/on_cpu.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::lab {
namespace {

using gpu::SatAlgorithm;
using gpu::SatCase;

// Those of the GPU, also in builds without CUDA.
const std::vector<std::string> gpu_sats{
#define FACESAT_ALGORITHM(id) #id,
#include "kernels/sat/registry.def"
#undef FACESAT_ALGORITHM
    "peer_cub", "peer_npp"};

// Those of the CPU: on_cpu.hpp's, and the CPU backend's own integral(), which always computes both
// integral images (sums and squared sums), and only for 8-bit pictures.
const std::vector<std::string> cpu_sats{id_2r2w, id_4r1w, id_blocks, id_backend};

// An integral image with its borders, in the layout of core/image.hpp.
template <class Out>
class BorderedTable {
 public:
  explicit BorderedTable(Size size) : size_(size), memory_({size.width + border, size.height + 1}) {
    for (int y = 0; y <= size.height; ++y) std::fill_n(memory_.row(y), memory_.size().width, Out{});
  }
  View<Out> view() { return {memory_.row(1) + border, size_, memory_.view().pitch}; }

  // Overwrites the table, so that the result of an earlier run is not mistaken for a new one.
  void poison() {
    for (int y = 0; y < size_.height; ++y)
      std::fill_n(view().row(y), size_.width, static_cast<Out>(0xEEEEEEEEu));
  }

 private:
  static constexpr int border = 64 / sizeof(Out);  // elements on the left: 64 bytes
  Size size_;
  Image<Out> memory_;
};

// Noise: random integers over the full range. For floating-point tables one pixel in 128 is 1 and
// the rest are 0, so that every sum is exact in any order and needs no tolerance.
template <class In, class Out>
Image<In> make_noise(Size size) {
  Image<In> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto bits = static_cast<std::uint32_t>(random()) * 0x9E3779B1u;
      picture.row(y)[x] =
          static_cast<In>(std::is_floating_point_v<Out> ? bits >> 25 == 0 : bits ^ bits >> 16);
    }
  return picture;
}

// Is every element the pixel's value (or square) plus the elements to the left and above, minus the
// element above on the left?
template <Summed summed, class In, class Out>
bool is_correct(View<const In> picture, View<const Out> table) {
  const auto row_is_correct = [&](int y) {
    const Out *const row = table.row(y), *const above = table.row(y - 1);
    for (int x = 0; x < picture.size.width; ++x)
      if (row[x] !=
          summand<summed, Out>(picture.row(y)[x]) + (row[x - 1] + (above[x] - above[x - 1])))
        return false;
    return true;
  };
  return tbb::parallel_reduce(
      tbb::blocked_range<int>(0, picture.size.height), true,
      [&](const tbb::blocked_range<int>& rows, bool right) {
        for (int y = rows.begin(); right && y < rows.end(); ++y) right = row_is_correct(y);
        return right;
      },
      std::logical_and<bool>());
}

// The CPU's algorithms on one picture and its integral images.
template <class In, class Out>
class HostSat {
 public:
  // Throws MemoryError.
  HostSat(const SatCase& one, bool has_squares, View<const std::uint8_t> picture)
      : squares_(one.squares),
        picture_(make_noise<In, Out>(one.size)),
        sum_(one.size),
        squared_sum_(has_squares ? one.size : Size{}) {
    if constexpr (sizeof(In) == 1)
      if (picture.data) copy(picture, picture_.view());
  }

  void poison() {
    sum_.poison();
    squared_sum_.poison();
  }

  void run(const std::string& id) {
    const View<const In> picture = std::as_const(picture_).view();
    const View<Out> sum = sum_.view(), squared_sum = squared_sum_.view();
    if (id == id_2r2w) {
      cpu_2r2w<Summed::values>(picture, sum);
      if (squares_) cpu_2r2w<Summed::squares>(picture, squared_sum);
    } else if (id == id_4r1w) {
      cpu_4r1w<Summed::values>(picture, sum);
      if (squares_) cpu_4r1w<Summed::squares>(picture, squared_sum);
    } else if (id == id_blocks) {
      cpu_blocks<Summed::values>(picture, sum);
      if (squares_) cpu_blocks<Summed::squares>(picture, squared_sum);
    } else if constexpr (sizeof(In) == 1 && std::is_integral_v<Out>) {
      cpu::integral(picture, sum, squared_sum);
    }
  }

  bool is_right(bool squares) {
    const View<const In> picture = std::as_const(picture_).view();
    return is_correct<Summed::values>(picture, View<const Out>(sum_.view())) &&
           (!squares || is_correct<Summed::squares>(picture, View<const Out>(squared_sum_.view())));
  }

 private:
  bool squares_;
  Image<In> picture_;
  BorderedTable<Out> sum_, squared_sum_;
};

}  // namespace

std::vector<Subject> sat_on_cpu(const SatCase& one, const std::vector<std::string>& all_ids,
                                View<const std::uint8_t> pixels) {
  std::vector<std::string> ids;
  for (const std::string& id : cpu_sats)
    if (contains(all_ids, id)) ids.push_back(id);
  if (ids.empty()) return {};
  std::vector<Subject> subjects;
  gpu::visit_types(one.type, [&]<class In, class Out>(In, Out) {
    constexpr bool is_of_backend = sizeof(In) == 1 && std::is_integral_v<Out>;
    // The CPU backend, always last, makes both tables even if the squares were not requested.
    const bool has_squares = one.squares || (is_of_backend && ids.back() == id_backend);
    const auto area = static_cast<std::uint64_t>(one.size.area());
    std::shared_ptr<HostSat<In, Out>> sat;
    std::string failure;
    try {
      require_memory(area * (sizeof(In) + sizeof(Out) * (has_squares ? 2 : 1)), "The picture");
      sat = std::make_shared<HostSat<In, Out>>(one, has_squares, pixels);
    } catch (const MemoryError& error) {
      failure = error.what();
    }
    for (const std::string& id : ids) {
      const bool is_backend = id == id_backend;
      const bool squares = one.squares || is_backend;
      Subject subject{.id = id,
                      .bytes = static_cast<double>(area) *
                               static_cast<double>(sizeof(In) + sizeof(Out) * (squares ? 2 : 1)),
                      .failure = failure};
      if (is_backend && !is_of_backend) {
        subject.failure = "the CPU backend makes tables of 8u32s and 8u32u only";
        subject.is_absent = true;
      }
      subject.open = [=] {
        return on_host([=] { sat->run(id); }, [=] { return sat->is_right(squares); },
                       [=] { sat->poison(); });
      };
      subjects.push_back(std::move(subject));
    }
  });
  return subjects;
}

namespace {

// ---- ids

// Four digits tell all candidates apart.
std::string with_value(std::string_view id, double value) {
  return fmt::format("{}:{:.4g}", id, value);
}

const gpu::SatParameter* parameter_of(const std::string& id) {
  const SatAlgorithm* const sat = gpu::find_sat(base_of(id));
  return sat ? sat->parameter : nullptr;
}

void check_id(const std::string& text, const std::vector<std::string>& known,
              const std::string& no_gpu) {
  const std::string base = base_of(text);
  if (!contains(known, base))
    refuse_unknown("--algorithm", text, "algorithm", {known.begin(), known.end()});
  if (text != base) {
    const std::string why = contains(gpu_sats, base) ? gpu::choose_sat(text).why_not
                                                     : fmt::format("{} has no parameter", base);
    if (!why.empty()) throw UsageError(fmt::format("--algorithm {}: {}", text, why));
  }
  if (contains(gpu_sats, base)) require_gpu("--algorithm " + text, no_gpu);
}

// The ids of the rows, in the order of the table. Besides the algorithms that are asked for by
// name, "all" has the values of parameters that papers have figures for. Without a GPU it means
// those of the CPU.
std::vector<std::string> chosen_ids(const std::vector<std::string>& asked,
                                    const std::string& no_gpu) {
  std::vector<std::string> known = gpu_sats, ids;
  known.insert(known.end(), cpu_sats.begin(), cpu_sats.end());
  for (const std::string& text : asked)
    if (text != "all") check_id(text, known, no_gpu);
  for (const std::string& id : known) {
    if (wants_all(asked) && (no_gpu.empty() || !contains(gpu_sats, id))) {
      add_new(ids, {id});
      if (const gpu::SatParameter* const parameter = parameter_of(id))
        for (const double value : parameter->published) add_new(ids, {with_value(id, value)});
    }
    for (const std::string& text : asked)
      if (base_of(text) == id) add_new(ids, {text});
  }
  return ids;
}

// Further values of the chosen algorithms' parameters, as ids, for pictures of a size.
std::vector<std::string> searched_ids(const std::vector<std::string>& chosen, Size size,
                                      std::size_t most) {
  std::vector<std::string> ids;
  for (const std::string& text : chosen) {
    const gpu::SatParameter* const parameter = parameter_of(text);
    if (!parameter) continue;
    for (const double value : parameter->values_for(size, most)) {
      const std::string id = with_value(base_of(text), value);
      if (!contains(chosen, id) && !contains(ids, id)) ids.push_back(id);
    }
  }
  return ids;
}

// ---- rows

// "1x32" for [1, 32, 1]; at least one number.
std::string dimensions(const Json& sides) {
  std::size_t count = sides.size();
  while (count > 1 && sides[count - 1] == 1) --count;
  std::string text = sides[0].dump();
  for (std::size_t i = 1; i < count; ++i) text.append("x").append(sides[i].dump());
  return text;
}

// Marks the fastest of an algorithm's rows from row `first` on, and prints its parameter. Rows that
// are wrong or were not measured do not count.
void name_fastest(const std::string& algorithm, std::size_t first, Json& rows) {
  Json* fastest = nullptr;
  int count = 0;
  for (std::size_t i = first; i < rows.size(); ++i) {
    Json& row = rows[i];
    if (base_of(row["id"]) != algorithm || !row.value("checked", false)) continue;
    ++count;
    if (!fastest || row["median_us"] < (*fastest)["median_us"]) fastest = &row;
  }
  if (!fastest) return;
  (*fastest)["fastest"] = true;
  print(fmt::format("{} at {}: {} = {} is the fastest of {} values\n", algorithm,
                    size_column().text(*fastest), parameter_of(algorithm)->name,
                    (*fastest)["value"].get<double>(), count));
}

class SatProblem final : public Problem {
 public:
  SatProblem() {
    name = "sat";
    help = "SAT algorithms: microseconds per table";
    algorithms_help =
        "As 'facesat info' lists them, ID:VALUE to set a parameter; peer_cub, peer_npp: NVIDIA's "
        "libraries; cpu_2r2w, cpu_4r1w, cpu_blocks, cpu_backend; all; repeatable [all]";
    sizes_help =
        "Of the pictures; repeatable [1024x1024, 1280x720, 1920x1080, 3840x2160, 4096x4096]";
    options = {
        {"--type", "TYPE",
         "Types of picture and table: 8u32s, 8u32u, 8u32f, 32s32s, 32u32u, 32f32f, 64f64f; "
         "repeatable [8u32s]",
         &type_names_},
        {"--squares", "", "Sum the squares too (8-bit pictures only)", &squares_},
        {"--model", "",
         "Show the times that models predict too, from the figures of 'facesat bench micro'",
         &model_},
        {"--kernels", "",
         "Show the kernels too, except NPP's: grid and block, registers per thread, bytes of "
         "shared memory per block, blocks that a multiprocessor has room for, and time",
         &kernels_},
        {"--search", "",
         "Look for the fastest value of each parameter: a row for every value tried, of which "
         "there "
         "are up to 24",
         &search_},
        {"--search-all", "", "The same with every value that makes a difference", &searches_all_}};
    references = {
        {"floor", {"A kernel that reads every pixel once and writes every element once"}},
        {"memcpy", {"cudaMemcpy that reads and writes as many bytes in all as the floor"}},
        {"peer_cub", {"CUB: block-wide scans of rows, then scans of columns (2R2W)"}},
        {"peer_npp", {"NPP: nppiIntegral, with the types and the layout that NPP has"}},
        {id_2r2w, {"One thread of the CPU: running sums down the columns, then along the rows"}},
        {id_4r1w, {"One thread of the CPU: each element from its three neighbours"}},
        {id_blocks,
         {"All threads of the CPU: blocks that stay in a cache",
          "Papatriantafyllou, Sacharidis: High Performance Parallel Summed-Area Table Kernels for "
          "Multi-core and Many-core Systems, Euro-Par 2016"}},
        {id_backend,
         {"One thread of the CPU: the detector’s CPU backend, which computes the integral and the "
          "squared integral image together, with SIMD instructions"}}};
  }

  std::string choose(const Request& request) override {
    for (const std::string& text :
         request.sizes.empty() ? std::vector<std::string>{"1024x1024", "1280x720", "1920x1080",
                                                          "3840x2160", "4096x4096"}
                               : request.sizes)
      sizes_.push_back(picture_size(text));
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    if (model_) require_gpu("--model", no_gpu);
    if (search_) require_gpu("--search", no_gpu);
    if (searches_all_) require_gpu("--search-all", no_gpu);
    if (kernels_) require_gpu("--kernels", no_gpu);
    ids_ = chosen_ids(request.algorithms, no_gpu);
    if ((search_ || searches_all_) && std::ranges::none_of(ids_, parameter_of))
      throw UsageError(fmt::format("{}: none of the chosen algorithms has a parameter",
                                   search_ ? "--search" : "--search-all"));
    if (type_names_.empty()) type_names_ = {"8u32s"};
    types_ = known_types(type_names_, gpu::sat_types);
    return wants_all(request.algorithms) ? no_gpu : "";
  }

  std::vector<Column> columns() const override {
    std::vector<Column> columns{text_column("algorithm", -30, "id"),
                                text_column("type", -8, "type"), size_column()};
    if (model_) {
      columns.push_back(figure_column("model us", 10, "model_us"));
      columns.push_back(figure_column("throughput", 10, "throughput_us"));
    }
    return columns;
  }

  void run(const Request& request, Table& table) override {
    if (model_) figures_ = gpu::measure_micro(request.device);
    for (const gpu::SatType type : types_)
      for (const Size size : sizes_)
        run_case({type, size, squares_ && gpu::info_of(type).input_bytes == 1}, request, table);
    if (kernels_) print(fmt::format("\n{}", sat_kernels_table(table.rows())));
  }

  PageText page_text() const override {
    return {.title = "Summed area tables, measured",
            .input = "picture",
            .check = "After each timed run every element of every table is compared.",
            .floor = "a kernel that reads every pixel once and writes every element once",
            .bytes = "the picture once and each table once"};
  }

  void complete(Row& row, const Json& json) const override {
    row.section = row.type + (json.value("squares", false) ? " squares" : "");
  }

  std::string heading(const Row& row, const Json&) const override {
    const auto kind = [](char c) {
      return c == 'u' ? "unsigned" : c == 's' ? "signed" : "floating-point";
    };
    int input = 0, table = 0;
    char of_input = 0, of_table = 0;
    std::string text;
    if (std::sscanf(row.type.c_str(), "%d%c%d%c", &input, &of_input, &table, &of_table) == 4)
      text = fmt::format("{}-bit {} pictures, {}-bit {} tables", input, kind(of_input), table,
                         kind(of_table));
    return text + (row.section.ends_with(" squares") ? " of sums and of squares" : "");
  }

  std::string speedup_over() const override { return "opencv_style"; }

  std::string section(const Rows& all, const Looks& looks) const override {
    const Rows rows = filtered(all, [](const Row& row) { return !row.searched; });
    ParameterWords words;
    for (const SatAlgorithm* const sat : gpu::sat_algorithms())
      if (sat->parameter)
        words[std::string(sat->id)] = {std::string(sat->parameter->name),
                                       std::string(sat->parameter->meaning)};
    return winner(rows) + ratio_chart(rows, looks) + order_charts(rows) +
           speedup_chart(rows, looks, speedup_over(), "Speed-up over OpenCV’s style") +
           parameter_charts(all, words) + model_chart(rows, looks) + "<h3>All figures</h3>\n" +
           figures_table(all);
  }

  std::vector<std::string> explained_columns() const override {
    return {"launches", "reads / writes per element"};
  }

  Explanation explain(const std::string& id) const override {
    const SatAlgorithm* const sat = gpu::find_sat(id);
    if (!sat) return {};
    return explanation_of(
        sat, {sat->launches > 0 ? std::to_string(sat->launches) : "one per anti-diagonal",
              fmt::format("{:.3g} / {:.3g}", sat->reads, sat->writes)});
  }

 private:
  void run_case(const SatCase& one, const Request& request, Table& table) {
    table.begin_case();
    const std::size_t first = table.rows().size();
    const std::vector<std::string> searched =
        search_ || searches_all_
            ? searched_ids(ids_, one.size,
                           searches_all_ ? std::numeric_limits<std::size_t>::max() : 24)
            : std::vector<std::string>();
    std::vector<std::string> ids = ids_;
    ids.insert(ids.end(), searched.begin(), searched.end());
    const Json fields{{"type", gpu::info_of(one.type).name},
                      {"squares", one.squares},
                      {"width", one.size.width},
                      {"height", one.size.height}};
    if (has_gpu_)
      table.attempt(fields, [&] {
        const gpu::SatSubjects gpu = gpu::sat_subjects(one, request.device, ids);
        table.measure(
            fields, gpu.subjects, request.runs, gpu.room, request.algorithms,
            [&](const Subject& subject, Json& row) {
              if (contains(searched, subject.id)) row["searched"] = true;
              if (row.contains("failure") || !(model_ || kernels_) || !row.contains("checked"))
                return;
              const auto launches = gpu.launches(subject.id, request.runs);
              if (model_) add_model(row, one, launches);
              if (kernels_ && !launches.empty()) row["kernels"] = sat_kernels(launches);
            });
      });
    table.measure(fields, sat_on_cpu(one, ids), request.runs, 0, request.algorithms);
    std::string last;
    for (const std::string& id : searched)
      if (const std::string algorithm = base_of(id); algorithm != std::exchange(last, algorithm))
        name_fastest(algorithm, first, table.rows());
  }

  // Only the project's own GPU algorithms have a model; other rows stay as they are.
  void add_model(Json& row, const SatCase& one, const std::vector<gpu::SatLaunch>& measured) const {
    const auto sat = gpu::choose_sat(row["id"].get<std::string>()).algorithm;
    if (!sat) return;
    const gpu::SatTypeInfo& type = gpu::info_of(one.type);
    const int tables = one.squares ? 2 : 1;
    row["model_us"] = sat->model.us(*sat, type, one.size, tables, *figures_);
    row["model"] = sat->model.name;
    if (!sat->model.throughput_us) return;
    std::vector<gpu::LaunchFigures> launches;
    for (const gpu::SatLaunch& launch : measured) launches.push_back(launch.figures);
    row["throughput_us"] =
        sat->model.throughput_us(*sat, type, one.size, tables, *figures_, launches);
  }

  std::vector<std::string> type_names_;
  bool squares_ = false, model_ = false, kernels_ = false, search_ = false, searches_all_ = false,
       has_gpu_ = false;
  std::vector<gpu::SatType> types_;
  std::vector<Size> sizes_;
  std::vector<std::string> ids_;
  std::optional<gpu::MicroFigures> figures_;
};

}  // namespace

Json sat_kernels(const std::vector<gpu::SatLaunch>& launches) {
  Json kernels = Json::array();
  for (const auto& [figures, count, us] : launches) {
    Json kernel{{"kernel", figures.kernel},
                {"launches", count},
                {"grid", figures.grid},
                {"block", figures.block},
                {"registers", figures.registers},
                {"static_shared_bytes", figures.static_bytes},
                {"dynamic_shared_bytes", figures.dynamic_bytes},
                {"resident_blocks", figures.resident_blocks}};
    if (!us.empty()) kernel["median_us"] = quantile(us, 0.5);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string sat_kernels_table(const Json& rows) {
  constexpr std::string_view format =
      "{:<30} {:<8} {:>11}  {:<24} {:>8} {:>12} {:>8} {:>9} {:>8} {:>8} {:>6} {:>10}\n";
  std::string table = fmt::format(format, "algorithm", "type", "size", "kernel", "launches", "grid",
                                  "block", "registers", "static", "dynamic", "blocks", "median us");
  for (const Json& row : rows)
    if (row.contains("kernels"))
      for (const Json& kernel : row["kernels"])
        table += fmt::format(
            format, row["id"].get<std::string>(), row["type"].get<std::string>(),
            size_column().text(row), kernel["kernel"].get<std::string>(),
            kernel["launches"].get<int>(), dimensions(kernel["grid"]), dimensions(kernel["block"]),
            kernel["registers"].get<int>(), kernel["static_shared_bytes"].get<int>(),
            kernel["dynamic_shared_bytes"].get<int>(), kernel["resident_blocks"].get<int>(),
            kernel.contains("median_us") ? fmt::format("{:.2f}", kernel["median_us"].get<double>())
                                         : "-");
  return table;
}

std::unique_ptr<Problem> sat_problem() {
  return std::make_unique<SatProblem>();
}

}  // namespace facesat::lab
