#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/bench_commands.hpp"
#include "kernels/sat/model.hpp"
#include "lab/files.hpp"
#include "lab/micro.hpp"
#include "lab/problem.hpp"
#include "support/errors.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// A line of the output.
struct Figure {
  const char* id;
  double value;
  const char* unit;
  std::string meaning;
};

// The quotient of both sides.
Figure inequality(const char* id, const gpu::Inequality& inequality, const char* sides) {
  return {id, inequality.greater / inequality.less, "times",
          fmt::format("{}: {}", sides, inequality.holds() ? "holds" : "does not hold")};
}

std::vector<Figure> figures_of(const gpu::MicroFigures& f) {
  const gpu::SatTypeInfo& integers = gpu::info_of(gpu::SatType::u32_u32);
  return {
      {"multiprocessors", 1.0 * f.multiprocessors, "", "on the device"},
      {"registers", f.limits.registers * 4 / 1024.0, "KiB", "of a multiprocessor"},
      {"shared_memory", f.limits.shared_bytes / 1024.0, "KiB", "of a multiprocessor"},
      {"blocks", 1.0 * f.limits.blocks, "", "that a multiprocessor has room for"},
      {"threads", 1.0 * f.limits.threads, "", "that a multiprocessor has room for"},
      {"clock", f.clock_hz, "Hz", "of a multiprocessor that is busy"},
      {"add", f.add, "clocks", "an integer addition, until its sum can be added"},
      {"and", f.bit_and, "clocks", "a boolean and, until its result can be added"},
      {"shuffle", f.shuffle, "clocks",
       "to the next lane of the warp, each from the result of the one before"},
      {"shared_read", f.shared_read, "clocks", "of shared memory, without bank conflicts"},
      {"l2_read", f.l2_read, "clocks", "of global memory, from the L2 cache"},
      {"global_read", f.global_read, "clocks", "of global memory that is in no cache"},
      {"memcpy", f.memcpy_bytes_per_s, "bytes/s", "cudaMemcpy on the device, read and written"},
      {"kernel_copy", f.kernel_copy_bytes_per_s, "bytes/s",
       "a kernel that copies, read and written"},
      {"shared_read_rate", f.shared_bytes_per_s, "bytes/s",
       "read from shared memory by all multiprocessors, without bank conflicts"},
      {"shuffle_rate", f.shuffles_per_s, "1/s", "by all multiprocessors, counted per lane"},
      {"add_rate", f.adds_per_s, "1/s", "of 32-bit integers, likewise"},
      {"and_rate", f.ands_per_s, "1/s", "of 32 bits, likewise"},
      {"f32_add_rate", f.f32_adds_per_s, "1/s", "of 32-bit floating point, likewise"},
      {"f64_add_rate", f.f64_adds_per_s, "1/s", "of 64-bit floating point, likewise"},
      {"launch", f.launch_us, "us", "from a kernel's end to that of an empty one after it"},
      inequality("chen_6", chen_latencies(gpu::RowScan::kogge_stone, f),
                 "Chen et al. 2018, (6): scan of rows > transposition and scan of columns"),
      inequality("chen_14", chen_throughputs(gpu::RowScan::kogge_stone, integers, f),
                 "(14): the same by throughputs, Kogge and Stone's scan"),
      inequality("chen_15", chen_throughputs(gpu::RowScan::ladner_fischer, integers, f),
                 "(15): the same, Ladner and Fischer's scan"),
  };
}

}  // namespace

int run_bench_micro(const BenchMicroCommand& command) {
  if (const std::string why = lab::why_no_gpu(command.device); !why.empty())
    throw UsageError(fmt::format("micro-benchmarks run on a GPU: {}", why));
  lab::require_writable_table(command.json);
  Json rows = Json::array();
  for (const Figure& figure : figures_of(gpu::measure_micro(command.device))) {
    print(fmt::format("{:<16} {:>10.4g} {:<8} {}\n", figure.id, figure.value, figure.unit,
                      figure.meaning));
    rows.push_back({{"id", figure.id}, {"value", figure.value}, {"unit", figure.unit}});
  }
  if (!command.json.empty()) lab::write_table(command.json, rows);
  return 0;
}

}  // namespace facesat::app
