// facesat bench scan: every prefix scan of kernels/scan on arrays whose scans are exact. They are
// compared with the floor (a kernel that only copies the array), CUB and the CPU. Without a GPU,
// only the CPU's algorithms run.
#include "lab/problems/scan.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "core/memory.hpp"
#include "core/parse_number.hpp"
#include "kernels/sat/model.hpp"
#include "lab/micro.hpp"
#include "lab/problem.hpp"
#include "lab/problems/on_cpu.hpp"
#include "support/errors.hpp"

namespace facesat::lab {
namespace {

using gpu::ScanAlgorithm;
using gpu::ScanOperator;
using gpu::ScanRow;
using gpu::ScanTask;

// cpu_serial: one thread. cpu_threads: all threads of oneTBB, each with a contiguous part.
const std::vector<std::string> cpu_scans{"cpu_serial", "cpu_threads"};

// Those of the GPU, also in builds without CUDA.
const std::vector<std::string> gpu_scans{
#define FACESAT_ALGORITHM(id) #id,
#include "kernels/scan/registry.def"
#undef FACESAT_ALGORITHM
    "peer_cub", gpu::repeated_scan_id};

// Calls visit(std::integral_constant<ScanOperator, op>), so that loops know the operator.
template <class Visit>
void visit_operator(ScanOperator op, Visit visit) {
  switch (op) {
    case ScanOperator::sum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::sum>());
    case ScanOperator::product:
      return visit(std::integral_constant<ScanOperator, ScanOperator::product>());
    case ScanOperator::minimum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::minimum>());
    case ScanOperator::maximum:
      return visit(std::integral_constant<ScanOperator, ScanOperator::maximum>());
    case ScanOperator::compose:
      return visit(std::integral_constant<ScanOperator, ScanOperator::compose>());
  }
}

// The CPU's algorithms on one array.
template <class T>
class HostScan {
 public:
  HostScan(const ScanTask& task, bool in_place)
      : task_(task),
        in_place_(in_place),
        input_(std::make_unique_for_overwrite<T[]>(size())),
        output_(std::make_unique_for_overwrite<T[]>(size())) {
    tbb::parallel_for(
        0, task.n, [&](int i) { input_[i] = gpu::scan_input<T>(task.op, task.n, i, data_seed); });
  }

  void prepare() {
    if (in_place_)
      std::memcpy(output_.get(), input_.get(), bytes());
    else
      std::memset(output_.get(), 0xEE, bytes());
  }

  void run(bool in_parts) {
    const std::span<const T> input(in_place_ ? output_.get() : input_.get(), size());
    visit_operator(task_.op, [&]<ScanOperator op>(std::integral_constant<ScanOperator, op>) {
      if (task_.order > 1 || task_.tuple > 1)
        scan_tuples_serially<op, T>(input, output_.get(), task_.is_inclusive, task_.order,
                                    task_.tuple);
      else if (in_parts)
        scan_in_parts<op, T>(input, output_.get(), task_.is_inclusive,
                             static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
      else
        scan_serially<op, T>(input, output_.get(), task_.is_inclusive, gpu::identity_of<T>(op));
    });
  }

  bool is_right() const {
    for (int i = 0; i < task_.n; ++i)
      if (output_[i] != gpu::scan_expected<T>(task_, output_.get(), i, data_seed)) return false;
    return true;
  }

 private:
  static constexpr std::uint32_t data_seed = 1;
  std::size_t size() const { return static_cast<std::size_t>(task_.n); }
  std::size_t bytes() const { return size() * sizeof(T); }

  ScanTask task_;
  bool in_place_;
  std::unique_ptr<T[]> input_, output_;
};

// Those of the chosen algorithms that are the CPU's, on one array.
std::vector<Subject> host_subjects(const ScanTask& task, bool in_place,
                                   const std::vector<ScanRow>& chosen) {
  std::vector<Subject> subjects;
  gpu::visit_type(task.type, [&]<class T>(T) {
    std::shared_ptr<HostScan<T>> scan;
    for (const ScanRow& row : chosen) {
      if (!contains(cpu_scans, row.id)) continue;
      Subject subject{
          .id = row.id, .fields = {{"settings", ""}}, .bytes = 2.0 * task.n * sizeof(T)};
      if (row.id == "cpu_threads" && (task.order > 1 || task.tuple > 1)) {
        subject.failure = "for scans of order 1 and single elements only";
        subject.is_absent = true;
        subjects.push_back(std::move(subject));
        continue;
      }
      try {
        require_memory(2 * static_cast<std::uint64_t>(task.n) * sizeof(T), "The array");
        if (!scan) scan = std::make_shared<HostScan<T>>(task, in_place);
        subject.open = [scan, in_parts = row.id == "cpu_threads"] {
          return on_host([=] { scan->run(in_parts); }, [=] { return scan->is_right(); },
                         [=] { scan->prepare(); });
        };
      } catch (const MemoryError& error) {
        subject.failure = error.what();
      }
      subjects.push_back(std::move(subject));
    }
  });
  return subjects;
}

bool is_integer(gpu::ScanType type) {
  return type == gpu::ScanType::s32 || type == gpu::ScanType::u32 || type == gpu::ScanType::s64;
}

bool is_good(const Measurement& measured) {
  return measured.failure.empty() && measured.all_right == true;
}

bool is_faster(const Measurement& a, const Measurement& b) {
  return quantile(a.us, 0.5) < quantile(b.us, 0.5);
}

// What "id" or "id:name=value,..." stands for; the id is known.
ScanRow row_named(const std::string& text) {
  const std::string id = base_of(text);
  try {
    if (gpu::find_scan(id)) return {id, gpu::parse_scan(text).settings};
  } catch (const ArgumentError& error) {
    throw UsageError(fmt::format("--algorithm {}: {}", text, error.what()));
  }
  // Builds without CUDA do not know the parameters of the GPU's algorithms.
  if ((id == "peer_cub" || id == gpu::repeated_scan_id || contains(cpu_scans, id)) && text != id)
    throw UsageError(fmt::format("--algorithm {}: {} has no parameters", text, id));
  return {id};
}

int number_up_to(int most, const std::string& option, const std::string& text) {
  const auto number = parse_number<int>(text);
  if (!number || *number < 1 || *number > most)
    throw UsageError(
        fmt::format("{}: expected a whole number from 1 to {}, not \"{}\"", option, most, text));
  return *number;
}

class ScanProblem final : public Problem {
 public:
  ScanProblem() {
    name = "scan";
    help = "Prefix scans: microseconds per array";
    algorithms_type = "ID[:NAME=N,...]";
    algorithms_help =
        "As 'facesat info' lists them, with values for parameters; peer_cub: NVIDIA's CUB; "
        "facesat_scan_repeated: facesat_scan, once for each order; cpu_serial, cpu_threads; all, "
        "which are those that take --order and --tuple; repeatable [all]";
    sizes_type = "N|2^K";
    sizes_help = "Elements of the arrays, up to 2^30; repeatable [2^19, 2^21, 2^23, 2^27]";
    options = {
        {"--type", "TYPE",
         "Type of the elements: 32s, 32u, 64s, 32f, 64f, and with --operator compose maps x -> ax "
         "+ "
         "b: affine32u, affine32f; repeatable [32f, 32s; affine32f, affine32u; of higher orders "
         "32s]",
         &type_names_},
        {"--operator", "", "What combines the elements; compose: one map after the other [sum]",
         Option::Choice{{"sum", "product", "minimum", "maximum", "compose"}, &operator_}},
        {"--exclusive", "", "Leave each element itself out of its result", &is_exclusive_},
        {"--order", "N",
         "Scan the array N times, up to 8; above 1 only sums of 32s, 32u, 64s, which stay exact "
         "[1]",
         &order_text_},
        {"--tuple", "N",
         "Scan N interleaved arrays, up to 8: each element is combined with the N-th before it "
         "[1]",
         &tuple_text_},
        {"--in-place", "", "Write the results over the array", &in_place_},
        {"--search", "", "Look for the fastest parameters of each algorithm that is given without",
         &search_},
        {"--model", "",
         "Show the times that a model predicts too, from the figures of 'facesat bench micro'",
         &model_}};
    references = {
        {"floor", {"A kernel that reads every element once and writes it once"}},
        {"memcpy", {"cudaMemcpy of the array"}},
        {"peer_cub", {"CUB: DeviceScan"}},
        {gpu::repeated_scan_id, {"facesat_scan, once for each order"}},
        {"cpu_serial", {"One thread of the CPU"}},
        {"cpu_threads", {"All threads of the CPU: reduces contiguous parts, then scans them"}}};
  }

  std::string choose(const Request& request) override {
    const std::vector<std::string> sizes =
        request.sizes.empty() ? std::vector<std::string>{"2^19", "2^21", "2^23", "2^27"}
                              : request.sizes;
    for (const std::string& text : sizes) lengths_.push_back(array_length(text, 30));
    op_ = static_cast<ScanOperator>(
        known_word("--operator", "operator", operator_,
                   {gpu::scan_operators.begin(), gpu::scan_operators.end()}));
    order_ = number_up_to(gpu::most_scan_order, "--order", order_text_);
    tuple_ = number_up_to(gpu::most_scan_tuple, "--tuple", tuple_text_);
    const bool composes = op_ == ScanOperator::compose;
    if (type_names_.empty())
      type_names_ = composes     ? std::vector<std::string>{"affine32f", "affine32u"}
                    : order_ > 1 ? std::vector<std::string>{"32s"}
                                 : std::vector<std::string>{"32f", "32s"};
    types_ = known_types(type_names_, gpu::scan_types);
    for (const gpu::ScanType type : types_)
      if (!gpu::applies(op_, type))
        throw UsageError(
            fmt::format("--operator {}: not for --type {}; compose is for affine32u and affine32f, "
                        "the other operators are for numbers",
                        operator_, gpu::info_of(type).name));
    for (const gpu::ScanType type : types_)
      if (order_ > 1 && (op_ != ScanOperator::sum || !is_integer(type)))
        throw UsageError(
            fmt::format("--order {}: only for sums of 32s, 32u and 64s, which stay exact", order_));
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    if (model_) require_gpu("--model", no_gpu);
    if (search_) require_gpu("--search", no_gpu);
    choose_rows(request, no_gpu);
    if (search_ && searched_.empty())
      throw UsageError("--search: no algorithm with parameters is given without values for them");
    return wants_all(request.algorithms) ? no_gpu : "";
  }

  std::vector<Column> columns() const override {
    std::vector<Column> columns{text_column("algorithm", -24, "id"),
                                text_column("settings", -36, "settings"),
                                text_column("type", -4, "type"),
                                {"n", 10, [](const Json& row) { return row["n"].dump(); }}};
    if (model_) columns.push_back(figure_column("model us", 10, "model_us"));
    return columns;
  }

  void run(const Request& request, Table& table) override {
    if (model_) figures_ = gpu::measure_micro(request.device);
    for (const gpu::ScanType type : types_)
      for (const int n : lengths_) run_case(type, n, request, table);
  }

  PageText page_text() const override {
    return {.title = "Prefix scans, measured",
            .input = "array",
            .check = "After each timed run every element of the result is compared.",
            .floor = "a kernel that reads every element once and writes it once",
            .bytes = "the array read once and written once"};
  }

  void complete(Row& row, const Json&) const override {
    row.section = row.type;
    row.width = row.n;
    row.height = 1;
  }

  // What all rows have in common: "exclusive sum of order 2, tuples of 3, in place".
  std::string heading(const Row&, const Json& rows) const override {
    const Json& first = rows.front();
    const int order = first.value("order", 1), tuple = first.value("tuple", 1);
    return fmt::format("{} {}{}{}{}", first.value("inclusive", true) ? "inclusive" : "exclusive",
                       first.value("operator", "sum"),
                       order > 1 ? fmt::format(" of order {}", order) : "",
                       tuple > 1 ? fmt::format(", tuples of {}", tuple) : "",
                       first.value("in_place", false) ? ", in place" : "");
  }

  std::vector<std::string> explained_columns() const override { return {"parameters"}; }

  Explanation explain(const std::string& id) const override {
    const ScanAlgorithm* const scan = gpu::find_scan(id);
    if (!scan) return {};
    std::string parameters;
    for (const gpu::ScanParameter& parameter : scan->parameters)
      parameters += fmt::format("{}{}: {}", parameters.empty() ? "" : "; ", parameter.name,
                                parameter.meaning);
    return explanation_of(scan, {parameters});
  }

 private:
  // The rows, in the order of the table. Without a GPU, "all" means those of the CPU.
  void choose_rows(const Request& request, const std::string& no_gpu) {
    std::vector<std::string> known = gpu_scans;
    known.insert(known.end(), cpu_scans.begin(), cpu_scans.end());
    for (const std::string& text : request.algorithms) {
      if (text == "all") continue;
      if (!contains(known, base_of(text)))
        refuse_unknown("--algorithm", text, "algorithm", {known.begin(), known.end()});
      row_named(text);
      if (contains(gpu_scans, base_of(text))) require_gpu("--algorithm " + text, no_gpu);
    }
    for (const std::string& id : known) {
      std::vector<std::string> texts;  // ways in which this algorithm is asked for
      for (const std::string& text : request.algorithms)
        if (base_of(text) == id && !contains(texts, text)) texts.push_back(text);
      if (id == gpu::repeated_scan_id && order_ == 1 && texts.empty()) continue;
      if (texts.empty() && wants_all(request.algorithms) &&
          (no_gpu.empty() || !contains(gpu_scans, id)))
        texts.push_back(id);
      for (const std::string& text : texts) rows_.push_back(row_named(text));
      const ScanAlgorithm* const scan = gpu::find_scan(id);
      if (search_ && texts == std::vector{id} && scan && !scan->parameters.empty())
        searched_.push_back(id);
    }
  }

  void run_case(gpu::ScanType type, int n, const Request& request, Table& table) {
    table.begin_case();
    std::vector<std::string> named;
    for (const std::string& text : request.algorithms) named.push_back(base_of(text));
    const ScanTask task{.type = type,
                        .op = op_,
                        .is_inclusive = !is_exclusive_,
                        .n = n,
                        .order = order_,
                        .tuple = tuple_};
    const Json fields{{"type", gpu::info_of(type).name},
                      {"operator", operator_},
                      {"inclusive", !is_exclusive_},
                      {"order", order_},
                      {"tuple", tuple_},
                      {"in_place", in_place_},
                      {"n", n}};
    const auto add_model = [&](const Subject& subject, Json& row) {
      if (figures_) add_scan_model(row, task, subject);
    };
    if (has_gpu_)
      table.attempt(fields, [&] {
        const std::vector<ScanRow> rows = searched_.empty() ? rows_ : search(task, request);
        const GpuSubjects gpu = gpu::scan_subjects(task, in_place_, request.device, rows);
        const std::vector<Measurement> measured = measure(gpu.subjects, request.runs, gpu.room);
        std::vector<Subject> kept;
        std::vector<Measurement> kept_measured;
        for (std::size_t i = 0; i < measured.size(); ++i)
          if (is_kept(i, gpu.subjects, measured)) {
            kept.push_back(gpu.subjects[i]);
            kept_measured.push_back(measured[i]);
          }
        table.add_measured(fields, kept, kept_measured, named, add_model);
        table.add_measured(fields, bad_, bad_measured_, named);
      });
    table.measure(fields, host_subjects(task, in_place_, rows_), request.runs, 0, named);
  }

  // The rows with the three fastest settings of each algorithm that is searched, each measured with
  // few runs. Rows that are wrong are kept apart.
  std::vector<ScanRow> search(const ScanTask& task, const Request& request) {
    constexpr int coarse_runs = 3;
    constexpr std::size_t finalists = 3;
    bad_.clear();
    bad_measured_.clear();
    std::vector<ScanRow> rows;
    for (const ScanRow& row : rows_) {
      if (!contains(searched_, row.id)) {
        rows.push_back(row);
        continue;
      }
      std::vector<ScanRow> all;
      for (const gpu::ScanSettings& settings : gpu::all_settings(*gpu::find_scan(row.id)))
        all.push_back({row.id, settings});
      const GpuSubjects coarse = gpu::scan_subjects(task, in_place_, request.device, all);
      const auto measured =
          measure(coarse.subjects, std::min(request.runs, coarse_runs), coarse.room);
      std::vector<std::size_t> good;
      const std::size_t not_chosen = coarse.subjects.size() - all.size();
      for (std::size_t i = not_chosen; i < measured.size(); ++i)
        if (is_good(measured[i])) {
          good.push_back(i);
        } else {
          bad_.push_back(coarse.subjects[i]);
          bad_measured_.push_back(measured[i]);
        }
      std::ranges::stable_sort(
          good, [&](std::size_t a, std::size_t b) { return is_faster(measured[a], measured[b]); });
      good.resize(std::min(good.size(), finalists));
      for (const std::size_t i : good) rows.push_back(all[i - not_chosen]);
    }
    return rows;
  }

  // Of an algorithm that is searched, only the fastest row stays, apart from bad ones.
  bool is_kept(std::size_t i, const std::vector<Subject>& subjects,
               const std::vector<Measurement>& measured) const {
    if (!contains(searched_, subjects[i].id) || !is_good(measured[i])) return true;
    for (std::size_t k = 0; k < measured.size(); ++k)
      if (subjects[k].id == subjects[i].id && is_good(measured[k]) &&
          (is_faster(measured[k], measured[i]) || (k < i && !is_faster(measured[i], measured[k]))))
        return false;
    return true;
  }

  // The "bytes" model: the time to read and write the elements at the speed of a copy, plus the
  // launches. Only the project's own GPU algorithms have it; other rows stay as they are.
  void add_scan_model(Json& row, const ScanTask& case_task, const Subject& subject) const {
    const ScanAlgorithm* const scan = gpu::find_scan(subject.id);
    if (!scan || row.contains("failure")) return;
    ScanTask task = case_task;
    if (const std::string settings = subject.fields["settings"]; !settings.empty())
      task.settings = gpu::parse_scan(subject.id + ":" + settings).settings;
    const gpu::ScanCost cost = scan->cost(task);
    const double bytes =
        (cost.reads + cost.writes) * task.n * static_cast<double>(gpu::info_of(task.type).bytes);
    row["model_us"] =
        bytes / gpu::copy_bytes_per_us(*figures_) + cost.launches * figures_->launch_us;
    row["model"] = "bytes";
  }

  std::vector<std::string> type_names_;
  std::string operator_ = "sum", order_text_ = "1", tuple_text_ = "1";
  int order_ = 1, tuple_ = 1;
  ScanOperator op_ = ScanOperator::sum;
  bool is_exclusive_ = false, in_place_ = false, search_ = false, model_ = false, has_gpu_ = false;
  std::vector<gpu::ScanType> types_;
  std::vector<int> lengths_;
  std::vector<ScanRow> rows_;
  std::vector<std::string> searched_;
  std::vector<Subject> bad_;  // settings that the search found to be wrong
  std::vector<Measurement> bad_measured_;
  std::optional<gpu::MicroFigures> figures_;
};

}  // namespace

std::unique_ptr<Problem> scan_problem() {
  return std::make_unique<ScanProblem>();
}

}  // namespace facesat::lab
