#include "kernels/sat/model.hpp"

#include <algorithm>

#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

double copy_bytes_per_us(const MicroFigures& figures) {
  return std::max(figures.memcpy_bytes_per_s, figures.kernel_copy_bytes_per_s) / 1e6;
}

double microseconds(double clocks, const MicroFigures& figures) {
  return clocks / figures.clock_hz * 1e6;
}

// All writes but the last are of intermediate tables, each of which is read once; all other reads
// are of the picture.
double bytes_us(const SatAlgorithm& sat, const SatTypeInfo& type, Size size, int tables,
                const MicroFigures& figures) {
  const int passes = sat.both_at_once ? 1 : tables;
  const double table_reads = sat.writes - 1, pixel_reads = sat.reads - table_reads;
  const double bytes_per_element =
      passes * pixel_reads * static_cast<double>(type.input_bytes) +
      tables * (table_reads + sat.writes) * static_cast<double>(type.table_bytes);
  return static_cast<double>(size.area()) * bytes_per_element / copy_bytes_per_us(figures) +
         passes * sat.launches * figures.launch_us;
}

}  // namespace facesat::gpu
