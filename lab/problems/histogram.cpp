// facesat bench histogram: the ways to compute an integral histogram, compared with the floor, with
// each other and with the CPU. Without a GPU, only the CPU's rows are measured.
#include "lab/problems/histogram.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "core/memory.hpp"
#include "core/parse_number.hpp"
#include "lab/problem.hpp"
#include "support/errors.hpp"

namespace facesat::lab {
namespace {

using gpu::HistogramCase;
using gpu::IntegralHistogram;

// cpu_serial: one thread, bin after bin. cpu_threads: the bins divided among all threads.
const std::vector<std::string> cpu_ids{"cpu_serial", "cpu_threads"};

// Uniform noise, of which all bins have a part.
Image<std::uint8_t> noise_of(Size size) {
  require_memory(static_cast<std::uint64_t>(size.area()), "The picture");
  Image<std::uint8_t> picture(size);
  std::minstd_rand random;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      picture.row(y)[x] = static_cast<std::uint8_t>(random() >> 16);
  return picture;
}

// The CPU's tables of a case, which must stay while it is measured.
class HostHistogram {
 public:
  explicit HostHistogram(const HistogramCase& one) : picture_(one.picture.view()) {
    const std::size_t bytes = gpu::integral_histogram_bytes(picture_.size, one.bins);
    require_memory(bytes, "The integral histogram");
    memory_ = std::make_unique<std::uint32_t[]>(bytes / sizeof(std::uint32_t));
    tables_ = gpu::integral_histogram_in(memory_.get(), picture_.size, one.bins);
  }

  void prepare() {
    tbb::parallel_for(0, tables_.bins, [&](int bin) {
      for (int y = 0; y < picture_.size.height; ++y)
        std::fill_n(tables_.row(bin, y), picture_.size.width, 0xEEEEEEEEu);
    });
  }
  void run_serially() {
    for (int bin = 0; bin < tables_.bins; ++bin) sum_up(bin);
  }
  void run_in_parallel() {
    tbb::parallel_for(0, tables_.bins, [&](int bin) { sum_up(bin); });
  }
  bool is_right() const {
    std::atomic<bool> all = true;
    tbb::parallel_for(0, tables_.bins, [&](int bin) {
      for (int y = 0; y < picture_.size.height; ++y)
        for (int x = 0; x < picture_.size.width; ++x)
          if (tables_.row(bin, y)[x] != gpu::expected_count(picture_, tables_, bin, x, y))
            all = false;
    });
    return all;
  }

 private:
  // The definition: the row so far, added to what stands above.
  void sum_up(int bin) {
    for (int y = 0; y < picture_.size.height; ++y) {
      const std::uint8_t* const pixels = picture_.row(y);
      const std::uint32_t* const above = tables_.row(bin, y - 1);
      std::uint32_t* const row = tables_.row(bin, y);
      std::uint32_t sum = 0;
      for (int x = 0; x < picture_.size.width; ++x) {
        sum += bin_of(pixels[x], tables_.bins) == bin;
        row[x] = above[x] + sum;
      }
    }
  }

  View<const std::uint8_t> picture_;
  std::unique_ptr<std::uint32_t[]> memory_;
  IntegralHistogram tables_;
};

// Those of the ids that are the CPU's.
std::vector<Subject> host_subjects(const HistogramCase& one, const std::vector<std::string>& ids) {
  std::vector<Subject> subjects;
  std::shared_ptr<HostHistogram> histogram;
  for (const std::string& id : cpu_ids) {
    if (!contains(ids, id)) continue;
    if (!histogram) histogram = std::make_shared<HostHistogram>(one);
    const auto open = [histogram, in_parallel = id == "cpu_threads"] {
      return on_host(
          [=] { in_parallel ? histogram->run_in_parallel() : histogram->run_serially(); },
          [=] { return histogram->is_right(); }, [=] { histogram->prepare(); });
    };
    subjects.push_back({.id = id, .bytes = one.bytes(), .open = open});
  }
  return subjects;
}

int bins_of(const std::string& text) {
  const int bins = parse_number<int>(text).value_or(0);
  if (bins < 1 || bins > 256)
    throw UsageError(fmt::format("--bins {}: expected a number from 1 to 256", text));
  return bins;
}

class HistogramProblem final : public Problem {
 public:
  HistogramProblem() {
    name = "histogram";
    help = "Integral histograms: microseconds per picture";
    algorithms_help =
        "wf_tis, cw_tis, cw_sts, cw_b: Poostchi et al.'s, in wavefront and cross-weave order; "
        "cpu_serial, cpu_threads; all; repeatable [all]";
    sizes_help = "Repeatable [512x512, 1024x1024, 2048x2048]";
    options = {
        {"--bins", "N", "Bins of grey values, up to 256; repeatable [16, 32, 128]", &bins_asked_}};
    references = {
        {"floor", {"A kernel that reads every pixel once and writes all tables once"}},
        {"cpu_serial", {"One thread of the CPU: the running sum of a row, added to what is above"}},
        {"cpu_threads", {"All threads of the CPU: the same, the bins divided"}}};
  }

  std::string choose(const Request& request) override {
    std::vector<std::string> sizes = request.sizes, bins = bins_asked_;
    if (sizes.empty()) sizes = {"512x512", "1024x1024", "2048x2048"};
    if (bins.empty()) bins = {"16", "32", "128"};
    for (const std::string& text : sizes) sizes_.push_back(picture_size(text));
    for (const std::string& text : bins) bins_.push_back(bins_of(text));
    const std::string no_gpu = why_no_gpu(request.device);
    has_gpu_ = no_gpu.empty();
    std::vector<std::string_view> known;
    for (const auto& [scan, id, title] : gpu::histogram_scans) known.push_back(id);
    known.insert(known.end(), cpu_ids.begin(), cpu_ids.end());
    for (const std::string& id : request.algorithms) {
      if (id == "all") continue;
      known_word("--algorithm", "algorithm", id, known);
      if (!contains(cpu_ids, id)) require_gpu("--algorithm " + id, no_gpu);
    }
    ids_ = request.algorithms;
    if (!wants_all(request.algorithms)) return "";
    ids_.assign(known.begin(), known.end());
    return no_gpu;
  }

  std::vector<Column> columns() const override {
    return {text_column("algorithm", -12, "id"),
            size_column(),
            {"bins", 5, [](const Json& row) { return row["bins"].dump(); }},
            {"launches", 9, [](const Json& row) {
               return row.contains("launches") ? row["launches"].dump() : "-";
             }}};
  }

  void run(const Request& request, Table& table) override {
    for (const Size size : sizes_)
      for (const int bins : bins_) {
        table.begin_case();
        const Json fields{{"width", size.width}, {"height", size.height}, {"bins", bins}};
        table.attempt(fields, [&] {
          const HistogramCase one{noise_of(size), bins};
          if (has_gpu_) {
            const GpuSubjects gpu = gpu::histogram_subjects(one, request.device, ids_);
            table.measure(fields, gpu.subjects, request.runs, gpu.room, request.algorithms);
          }
          table.measure(fields, host_subjects(one, ids_), request.runs, 0, request.algorithms);
        });
      }
  }

  PageText page_text() const override {
    return {.title = "Integral histograms, measured",
            .input = "picture",
            .check = "After each timed run every element of every table is compared.",
            .floor = "a kernel that reads the picture once and writes the tables of all bins once",
            .bytes = "the picture read once and the tables of all bins written once"};
  }

  void complete(Row& row, const Json& json) const override {
    row.type = fmt::format("{} bins", json.value("bins", 0));
    row.section = row.type;
  }

  std::string heading(const Row&, const Json&) const override { return ""; }

  Explanation explain(const std::string& id) const override {
    for (const auto& [scan, of_scan, title] : gpu::histogram_scans)
      if (of_scan == id)
        return {std::string(title),
                "Poostchi et al.: Efficient GPU Implementation of the Integral Histogram, 2012"};
    return {};
  }

 private:
  std::vector<std::string> bins_asked_;
  std::vector<Size> sizes_;
  std::vector<int> bins_;
  bool has_gpu_ = false;
  std::vector<std::string> ids_;
};

}  // namespace

std::unique_ptr<Problem> histogram_problem() {
  return std::make_unique<HistogramProblem>();
}

}  // namespace facesat::lab
