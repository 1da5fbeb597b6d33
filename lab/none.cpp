// For builds without CUDA: nothing can be measured on a GPU.
#include "facesat/types.hpp"
#include "lab/micro.hpp"
#include "lab/problems/filter.hpp"
#include "lab/problems/histogram.hpp"
#include "lab/problems/jpeg.hpp"
#include "lab/problems/sat.hpp"
#include "lab/problems/scan.hpp"
#include "lab/problems/tasks.hpp"

namespace facesat::gpu {

MicroFigures measure_micro(int) {
  throw DeviceError("this build has no CUDA backend");
}

SatSubjects sat_subjects(const SatCase&, int, const std::vector<std::string>&) {
  return {};
}

lab::GpuSubjects scan_subjects(const ScanTask&, bool, int, const std::vector<ScanRow>&) {
  return {};
}

lab::GpuSubjects filter_subjects(const FilterCase&, int, const std::vector<std::string>&) {
  return {};
}

lab::GpuSubjects histogram_subjects(const HistogramCase&, int, const std::vector<std::string>&) {
  return {};
}

lab::GpuSubjects jpeg_subjects(const JpegCase&, int, const std::vector<std::string>&, SharePut) {
  return {};
}

lab::GpuSubjects task_subjects(const KnapsackCase&, int, const std::vector<std::string>&) {
  return {};
}
lab::GpuSubjects task_subjects(const HalftoneCase&, int, const std::vector<std::string>&) {
  return {};
}
lab::GpuSubjects task_subjects(Size, int, const std::vector<std::string>&) {
  return {};
}

}  // namespace facesat::gpu
