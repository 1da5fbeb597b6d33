// facesat bench tasks: the ways to run task arrays on three problems. They are compared with a
// floor, with each other and with the CPU. Without a GPU, only the CPU's schedules run.
#include "lab/problems/tasks.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/memory.hpp"
#include "kernels/tasks/problems.hpp"
#include "lab/problem.hpp"
#include "lab/problems/sat.hpp"
#include "lab/scene.hpp"
#include "media/codec.hpp"
#include "media/stamp.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace facesat::lab {
namespace {

using gpu::HalftoneCase;
using gpu::KnapsackCase;

enum class Kind { knapsack, error_diffusion, sat };
constexpr std::array<std::string_view, 3> kind_names{"knapsack", "error-diffusion", "sat"};

// The table, with the capacities of each item divided among all threads, in whole words of bits.
gpu::KnapsackTable solve_in_parallel(const KnapsackCase& problem) {
  const std::size_t words = gpu::taken_words(problem.capacity);
  const auto size = static_cast<std::size_t>(problem.capacity) + 1;
  gpu::KnapsackTable table{std::vector<float>(size),
                           std::vector<std::uint32_t>(problem.values.size() * words)};
  std::vector<float> before(size);
  for (std::size_t j = 0; j < problem.values.size(); ++j) {
    before.swap(table.best);
    const auto weight = static_cast<std::size_t>(problem.weights[j]);
    std::uint32_t* const taken = table.taken.data() + j * words;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, words, 256), [&](const auto& part) {
      for (std::size_t word = part.begin(); word < part.end(); ++word) {
        std::uint32_t bits = 0;
        for (std::size_t c = 32 * word; c < std::min(32 * word + 32, size); ++c) {
          float own = before[c];
          if (c >= weight && before[c - weight] + problem.values[j] > own) {
            own = before[c - weight] + problem.values[j];
            bits |= 1u << c % 32;
          }
          table.best[c] = own;
        }
        taken[word] = bits;
      }
    });
  }
  return table;
}

// Do the items that the table chooses fit, and have the value that it promises? Values are whole
// numbers, whose sums are exact.
bool is_consistent(const KnapsackCase& problem, const gpu::KnapsackTable& table) {
  const auto chosen = gpu::knapsack_choice(table.taken, problem.weights, problem.capacity);
  std::int64_t weight = 0;
  float value = 0;
  for (std::size_t j = 0; j < chosen.size(); ++j)
    if (chosen[j]) {
      weight += problem.weights[j];
      value += problem.values[j];
    }
  return weight <= problem.capacity && value == table.best.back();
}

bool are_equal(const Image<std::uint8_t>& a, const Image<std::uint8_t>& b) {
  for (int y = 0; y < a.size().height; ++y)
    if (!std::equal(a.row(y), a.row(y) + a.size().width, b.row(y))) return false;
  return true;
}

// A ramp from black to white with some noise.
Image<std::uint8_t> halftone_ramp(Size size) {
  require_memory(3 * static_cast<std::uint64_t>(size.area()), "The picture");
  Image<std::uint8_t> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const std::int64_t ramp = 256 * static_cast<std::int64_t>(x) / size.width;
      const auto grey = static_cast<int>(ramp) + static_cast<int>(random() >> 8 & 7) - 3;
      picture.row(y)[x] = static_cast<std::uint8_t>(std::clamp(grey, 0, 255));
    }
  return picture;
}

// The CPU's schedules, as far as their ids are given; the case must stay while they are measured.
//   cpu_serial: the definition, one thread; the items of the best choice weigh no more than the
//     capacity, and have the value.
//   cpu_threads: the capacities of each item divided among all threads; compared with the
//     definition.
std::vector<Subject> host_subjects(const KnapsackCase& one, const std::vector<std::string>& ids) {
  const auto table = std::make_shared<gpu::KnapsackTable>();
  std::vector<Subject> subjects{
      {.id = "cpu_serial",
       .bytes = one.bytes(),
       .open =
           [&one, table] {
             return on_host(
                 [&one, table] {
                   *table = gpu::knapsack_table(one.values, one.weights, one.capacity);
                 },
                 [&one, table] { return is_consistent(one, *table); });
           }},
      {.id = "cpu_threads", .bytes = one.bytes(), .open = [&one, table] {
         return on_host([&one, table] { *table = solve_in_parallel(one); },
                        [&one, table] {
                          return table->best == one.expected.best &&
                                 table->taken == one.expected.taken;
                        });
       }}};
  std::erase_if(subjects, [&](const Subject& subject) { return !contains(ids, subject.id); });
  return subjects;
}

void solve(const HalftoneCase& one, bool by_collection, View<std::uint8_t> result) {
  gpu::visit_rule(one.rule, [&]<class Rule>(Rule) {
    by_collection ? gpu::collect_errors<Rule>(one.picture.view(), result)
                  : gpu::diffuse_errors<Rule>(one.picture.view(), result);
  });
}

// cpu_collection, cpu_diffusion: the two definitions, each compared with the other.
std::vector<Subject> host_subjects(const HalftoneCase& one, const std::vector<std::string>& ids) {
  const auto result = std::make_shared<Image<std::uint8_t>>(one.picture.size());
  std::vector<Subject> subjects;
  for (const std::string id : {"cpu_collection", "cpu_diffusion"}) {
    if (!contains(ids, id)) continue;
    const auto open = [&one, result, by_collection = id == "cpu_collection"] {
      const auto other = std::make_shared<Image<std::uint8_t>>(one.picture.size());
      solve(one, !by_collection, other->view());
      return on_host([&one, result, by_collection] { solve(one, by_collection, result->view()); },
                     [result, other] { return are_equal(*result, *other); });
    };
    subjects.push_back({.id = id, .bytes = one.bytes(), .open = open});
  }
  return subjects;
}

template <class Solver>
std::vector<std::string> ids_of(std::span<const Solver> solvers) {
  std::vector<std::string> ids;
  for (const Solver& solver : solvers) ids.emplace_back(solver.id);
  return ids;
}

// The ids of rows: of the GPU's solvers, none in builds without CUDA, and of the CPU's.
std::vector<std::string> gpu_schedules(Kind kind) {
  switch (kind) {
    case Kind::knapsack:
      return ids_of(gpu::knapsack_solvers());
    case Kind::error_diffusion:
      return ids_of(gpu::halftone_solvers());
    case Kind::sat:
      return ids_of(gpu::sat_solvers());
  }
  return {};
}
std::vector<std::string> cpu_schedules(Kind kind) {
  switch (kind) {
    case Kind::knapsack:
      return {"cpu_serial", "cpu_threads"};
    case Kind::error_diffusion:
      return {"cpu_collection", "cpu_diffusion"};
    case Kind::sat:
      return {"cpu_4r1w"};
  }
  return {};
}

// The sizes that Funasaka et al. measure.
std::vector<Size> standard_sizes(Kind kind) {
  std::vector<Size> sizes;
  for (int k = 0; k < 6; ++k)
    sizes.push_back(kind == Kind::knapsack ? Size{4096, (16384 << k) - 1}
                                           : Size{1024 << k, 1024 << k});
  return sizes;
}

Size size_of(Kind kind, const std::string& text) {
  if (kind != Kind::knapsack) return picture_size(text);
  const Size size = parse_size(text);
  if (text.find('x') == std::string::npos || size.width < 1 || size.height < 1 ||
      size.width > gpu::most_items || size.height > gpu::largest_capacity)
    throw UsageError(
        fmt::format("--size {}: expected ITEMSxCAPACITY for the knapsack problem, from 1 to {} "
                    "items and a capacity from 1 to {}",
                    text, gpu::most_items, gpu::largest_capacity));
  return size;
}

// Solvers whose ids differ only in a number share an explanation.
template <class Solver>
void explain_solvers(std::span<const Solver> solvers, const std::string& id, Explanation& words) {
  const auto add = [](std::string& text, std::string_view more) {
    if (text.find(more) == std::string::npos)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", more);
  };
  for (const Solver& solver : solvers)
    if (base_of(std::string(solver.id)) == id) {
      add(words.idea, solver.title);
      add(words.source, solver.source);
    }
}

class TasksProblem final : public Problem {
 public:
  TasksProblem() {
    name = "tasks";
    help = "Task arrays (knapsack, error diffusion, SAT): microseconds per problem";
    algorithms_option = "--schedule";
    algorithms_help =
        "facesat: our own; skss_warps, skss_blocks, skss_resident, skss_counters: one launch whose "
        "rows wait for each other; steps, steps:N: a launch per step, N items per task; "
        "cpu_serial, cpu_threads, cpu_collection, cpu_diffusion, cpu_4r1w; all; repeatable [all]";
    sizes_type = "ITEMSxCAPACITY|WxH";
    sizes_help =
        "Of the problem, which must be one; repeatable [4096x16383 to 4096x524287 for knapsack, "
        "1024x1024 to 32768x32768 for the others]";
    options = {
        {"--problem", "NAME", "knapsack, error-diffusion, sat (type 32f32f), all; repeatable [all]",
         &kinds_asked_},
        {"--rule", "",
         "Errors of error diffusion as real numbers, or as whole ones, like Pillow's [32f]",
         Option::Choice{{"32f", "integer"}, &rule_}},
        {"--image", "FILE",
         "A picture for error diffusion, cropped at the top left to each --size [a ramp]",
         &files_.image},
        {"--output", "FILE", "Write the halftone to this .png file", &files_.output}};
    references = {
        {"floor", {"The bytes of the problem, written or copied"}},
        {"cpu_serial", {"One thread of the CPU: the table, item by item"}},
        {"cpu_threads", {"All threads of the CPU: the capacities of each item divided"}},
        {"cpu_collection", {"One thread of the CPU: each pixel collects its neighbours’ errors"}},
        {"cpu_diffusion", {"One thread of the CPU: each pixel adds its error to its neighbours"}},
        {"cpu_4r1w", {"One thread of the CPU: each element from its three neighbours"}}};
  }

  std::string choose(const Request& request) override {
    std::vector<std::string> of_gpu, known;
    for (const std::string& kind_name : kind_words(request)) {
      const auto kind = static_cast<Kind>(known_word(
          "--problem", "problem", kind_name, {kind_names[0], kind_names[1], kind_names[2], "all"}));
      std::vector<Size> sizes;
      for (const std::string& text : request.sizes) sizes.push_back(size_of(kind, text));
      if (sizes.empty() && files_.image.empty())
        sizes = files_.output.empty() ? standard_sizes(kind) : std::vector{Size{1024, 1024}};
      kinds_.emplace_back(kind, sizes);
      add_new(of_gpu, gpu_schedules(kind));
      add_new(known, cpu_schedules(kind));
    }
    known.insert(known.begin(), of_gpu.begin(), of_gpu.end());
    if (!files_.output.empty() && request.sizes.size() > 1)
      throw UsageError("--output takes the halftone of one size; several are given");
    return choose_schedules(request, of_gpu, known);
  }

  std::vector<std::pair<std::string, std::string>> further_files() const override {
    return {{"--output", files_.output}};
  }

  void prepare(const Request& request) override {
    files_.require_writable("a halftone");
    if (files_.image.empty()) return;
    picture_ = read_scene_picture(files_.image);
    kinds_.front().second = scene_sizes(request.sizes, picture_->pixels.size);
  }

  std::vector<Column> columns() const override {
    return {
        text_column("problem", -16, "problem"),
        text_column("schedule", -16, "id"),
        {"size", 14,
         [](const Json& row) {
           const bool is_knapsack = row.contains("items");
           return fmt::format("{}x{}", row[is_knapsack ? "items" : "width"].get<int>(),
                              row[is_knapsack ? "capacity" : "height"].get<int>());
         }},
        {"launches", 8,
         [](const Json& row) { return row.contains("launches") ? row["launches"].dump() : "-"; }},
        figure_column("speed-up", 9, "speedup")};
  }

  void run(const Request& request, Table& table) override {
    for (const auto& [kind, sizes] : kinds_)
      for (const Size size : sizes) {
        table.begin_case();
        const Json fields = fields_of(kind, size);
        table.attempt(fields, [&, kind = kind] {
          switch (kind) {
            case Kind::knapsack:
              return run_knapsack(fields, size, request, table);
            case Kind::error_diffusion:
              return run_halftone(fields, size, picture_ ? &*picture_ : nullptr, request, table);
            case Kind::sat:
              return run_sat(fields, size, request, table);
          }
        });
      }
  }

  PageText page_text() const override {
    return {.title = "Task arrays, measured",
            .input = "input",
            .check = "After each timed run the whole result is compared with the CPU’s.",
            .floor =
                "the time to write the bits of the choices (knapsack), to copy the picture "
                "(error diffusion), or to read every pixel and write every element of the "
                "table (sat)",
            .bytes = "those bytes"};
  }

  void complete(Row& row, const Json& json) const override {
    row.type =
        json.value("problem", "") + (json.value("rule", "") == "integer" ? ", whole numbers" : "");
    row.section = row.type;
    if (!json.contains("items")) return;
    row.width = json["items"];
    row.height = json["capacity"];
  }

  std::string heading(const Row&, const Json&) const override { return ""; }

  Explanation explain(const std::string& id) const override {
    Explanation words;
    explain_solvers(gpu::knapsack_solvers(), id, words);
    explain_solvers(gpu::halftone_solvers(), id, words);
    explain_solvers(gpu::sat_solvers(), id, words);
    return words;
  }

 private:
  // An image or an output without a problem are about error diffusion.
  std::vector<std::string> kind_words(const Request& request) const {
    const bool is_halftone = !files_.image.empty() || !files_.output.empty();
    std::vector<std::string> names = kinds_asked_;
    if (wants_all(names)) {
      names.assign(kind_names.begin(), kind_names.end());
      if (is_halftone) names = {"error-diffusion"};
    }
    if (is_halftone && names != std::vector<std::string>{"error-diffusion"})
      throw UsageError("--image and --output are for --problem error-diffusion alone");
    if (!request.sizes.empty() && names.size() > 1)
      throw UsageError("--size: the problems have different sizes; choose one with --problem");
    return names;
  }

  std::string choose_schedules(const Request& request, const std::vector<std::string>& of_gpu,
                               const std::vector<std::string>& known) {
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    for (const std::string& id : request.algorithms) {
      if (id == "all") continue;
      // Builds without CUDA do not know the ids of the GPU's schedules.
      const bool may_need_gpu =
          of_gpu.empty() && (id == "facesat" || id.starts_with("skss_") || id.starts_with("steps"));
      if (!contains(known, id) && !may_need_gpu)
        refuse_unknown("--schedule", id, "schedule", {known.begin(), known.end()});
      if (may_need_gpu || contains(of_gpu, id)) require_gpu("--schedule " + id, no_gpu);
    }
    ids_ = wants_all(request.algorithms) ? known : request.algorithms;
    return wants_all(request.algorithms) ? no_gpu : "";
  }

  Json fields_of(Kind kind, Size size) const {
    Json fields{{"problem", kind_names[static_cast<std::size_t>(kind)]}};
    if (kind == Kind::error_diffusion) fields["rule"] = rule_;
    const bool is_knapsack = kind == Kind::knapsack;
    fields[is_knapsack ? "items" : "width"] = size.width;
    fields[is_knapsack ? "capacity" : "height"] = size.height;
    return fields;
  }

  void run_knapsack(const Json& fields, Size size, const Request& request, Table& table) {
    KnapsackCase one = knapsack_case(size.width, size.height);
    one.expected = gpu::knapsack_table(one.values, one.weights, one.capacity);
    measure_both(one, fields, request, table);
  }

  void run_halftone(const Json& fields, Size size, const Picture* picture, const Request& request,
                    Table& table) {
    HalftoneCase one{rule_ == "32f" ? gpu::HalftoneRule::real : gpu::HalftoneRule::integer,
                     picture ? make_scene(*picture, size).gray : halftone_ramp(size),
                     Image<std::uint8_t>(size)};
    solve(one, true, one.expected.view());
    if (!files_.output.empty()) write_gray(files_.output, one.expected);
    measure_both(one, fields, request, table);
  }

  void run_sat(const Json& fields, Size size, const Request& request, Table& table) {
    if (has_gpu_) {
      const GpuSubjects gpu = gpu::task_subjects(size, request.device, ids_);
      add_gpu_rows(gpu, fields, request, table);
    }
    const gpu::SatCase one{gpu::SatType::f32_f32, size};
    table.measure(fields, sat_on_cpu(one, ids_), request.runs, 0, request.algorithms);
  }

  template <class Case>
  void measure_both(const Case& one, const Json& fields, const Request& request, Table& table) {
    if (has_gpu_)
      add_gpu_rows(gpu::task_subjects(one, request.device, ids_), fields, request, table);
    table.measure(fields, host_subjects(one, ids_), request.runs, 0, request.algorithms);
  }

  // With the speed-ups over the fastest of the conventional rows, with a launch per step.
  void add_gpu_rows(const GpuSubjects& gpu, const Json& fields, const Request& request,
                    Table& table) const {
    const std::vector<Measurement> measured = measure(gpu.subjects, request.runs, gpu.room);
    double steps_us = 0;
    for (std::size_t i = 0; i < measured.size(); ++i)
      if (gpu.subjects[i].id.starts_with("steps") && measured[i].all_right == true)
        steps_us = steps_us == 0 ? quantile(measured[i].us, 0.5)
                                 : std::min(steps_us, quantile(measured[i].us, 0.5));
    table.add_measured(fields, gpu.subjects, measured, request.algorithms,
                       [&](const Subject&, Json& row) {
                         if (steps_us > 0 && row.contains("checked"))
                           row["speedup"] = steps_us / row["median_us"].get<double>();
                       });
  }

  std::vector<std::string> kinds_asked_;
  std::string rule_ = "32f";
  PictureFiles files_;
  std::optional<Picture> picture_;  // --image
  bool has_gpu_ = false;
  std::vector<std::pair<Kind, std::vector<Size>>> kinds_;
  std::vector<std::string> ids_;
};

}  // namespace

KnapsackCase knapsack_case(int items, int capacity) {
  const std::size_t words = gpu::taken_words(capacity);
  require_memory(static_cast<std::uint64_t>(items) * words * 8 +
                     12 * (static_cast<std::uint64_t>(capacity) + 1),
                 "The table of choices");
  KnapsackCase one;
  one.capacity = capacity;
  std::mt19937 random(1);
  const auto most = static_cast<unsigned>(
      std::max<std::int64_t>(4 * static_cast<std::int64_t>(capacity) / items, 1));
  for (int j = 0; j < items; ++j) {
    one.values.push_back(static_cast<float>(random() % 4096));
    one.weights.push_back(1 + static_cast<int>(random() % most));
  }
  return one;
}

std::unique_ptr<Problem> tasks_problem() {
  return std::make_unique<TasksProblem>();
}

}  // namespace facesat::lab
