#include "app/bench/bench_micro.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bench/gpu.hpp"
#include "app/bench/machine.hpp"
#include "kernels/bench/micro.hpp"
#include "library/support/errors.hpp"
#include "library/support/files.hpp"

namespace facesat::app {
namespace {

using Json = nlohmann::ordered_json;

// A line of the output.
struct Figure {
  const char* id;
  double value;
  const char *unit, *meaning;
};

std::vector<Figure> figures_of(const gpu::MicroFigures& f) {
  return {
      {"multiprocessors", 1.0 * f.multiprocessors, "", "on the device"},
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
      {"launch", f.launch_us, "us", "from a kernel's end to that of an empty one after it"},
  };
}

}  // namespace

int run_bench_micro(const BenchMicroCommand& command) {
  if (const std::string why = why_no_gpu(command.device); !why.empty())
    throw UsageError(fmt::format("micro-benchmarks run on a GPU: {}", why));
  require_writable_table(command.json);
  Json rows = Json::array();
  for (const Figure& figure : figures_of(gpu::measure_micro(command.device))) {
    write_all(1,
              fmt::format("{:<16} {:>10.4g} {:<8} {}\n", figure.id, figure.value, figure.unit,
                          figure.meaning),
              "standard output");
    rows.push_back({{"id", figure.id}, {"value", figure.value}, {"unit", figure.unit}});
  }
  if (!command.json.empty()) write_table(command.json, rows);
  return 0;
}

}  // namespace facesat::app
