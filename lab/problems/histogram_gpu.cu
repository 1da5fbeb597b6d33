// Integral histograms on the GPU, for the measurement in lab/problems/histogram.cpp.
#include <algorithm>
#include <memory>

#include "lab/problems/histogram.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

// A picture and its tables.
struct Copy {
  DeviceImage<std::uint8_t> picture;
  Buffer<std::byte> memory;
  IntegralHistogram tables;
};

class HistogramInputs {
 public:
  explicit HistogramInputs(const HistogramCase& one)
      : size(one.picture.size()),
        bins(one.bins),
        bytes(one.bytes()),
        copies(
            bytes, [&](std::size_t) { return make(one.picture.view()); },
            [this](const Copy& copy) { poison(copy); }) {}
  HistogramInputs(const HistogramInputs&) = delete;
  HistogramInputs& operator=(const HistogramInputs&) = delete;

  bool is_right() {
    const Copy& copy = copies.current();
    return timer.finds_nothing_wrong([&](unsigned* wrong) {
      enqueue_check(copy.picture.view(), copy.tables, wrong, timer.stream());
    });
  }

  const Size size;
  const int bins;
  const double bytes;
  lab::StreamTimer timer;
  lab::Rotation<Copy> copies;

 private:
  Copy make(View<const std::uint8_t> picture) {
    Copy copy;
    copy.picture.resize(size, DeviceImage<std::uint8_t>::Border::none, timer.stream());
    const View<std::uint8_t> to = copy.picture.view();
    FACESAT_CUDA(cudaMemcpy2DAsync(
        to.data, static_cast<std::size_t>(to.pitch), picture.data,
        static_cast<std::size_t>(picture.pitch), static_cast<std::size_t>(size.width),
        static_cast<std::size_t>(size.height), cudaMemcpyHostToDevice, timer.stream()));
    copy.memory = Buffer<std::byte>(integral_histogram_bytes(size, bins));
    FACESAT_CUDA(cudaMemsetAsync(copy.memory.data(), 0, copy.memory.bytes(), timer.stream()));
    copy.tables = integral_histogram_in(copy.memory.data(), size, bins);
    return copy;
  }

  // All elements but those of row -1 and column -1.
  void poison(const Copy& copy) {
    const IntegralHistogram& tables = copy.tables;
    for (int bin = 0; bin < bins; ++bin)
      FACESAT_CUDA(cudaMemset2DAsync(tables.row(bin, 0), static_cast<std::size_t>(tables.pitch) * 4,
                                     0xEE, static_cast<std::size_t>(size.width) * 4,
                                     static_cast<std::size_t>(size.height), timer.stream()));
  }
};

lab::Subject subject_of(const HistogramScanInfo& info,
                        const std::shared_ptr<HistogramInputs>& inputs) {
  const int launches = histogram_launches(info.scan, inputs->size, inputs->bins);
  const std::size_t workspace_bytes =
      histogram_workspace_bytes(info.scan, inputs->size, inputs->bins);
  const auto open = [=, scan = info.scan] {
    const auto workspace = lab::zeroed_workspace(workspace_bytes, inputs->timer.stream());
    const auto run = [=] {
      const Copy& copy = inputs->copies.next();
      return inputs->timer.us(launches, [&] {
        enqueue_integral_histogram(copy.picture.view(), copy.tables, scan, workspace->data(),
                                   inputs->timer.stream());
      });
    };
    return lab::Runner{run, [inputs] { return inputs->is_right(); }};
  };
  return {.id = std::string(info.id),
          .fields = {{"launches", launches}},
          .bytes = inputs->bytes,
          .open = open,
          .workspace_bytes = workspace_bytes};
}

lab::Subject floor_of(const std::shared_ptr<HistogramInputs>& inputs) {
  const auto run = [inputs] {
    const Copy& copy = inputs->copies.next();
    return inputs->timer.us(
        1, [&] { enqueue_floor(copy.picture.view(), copy.tables, inputs->timer.stream()); });
  };
  return {.id = "floor", .bytes = inputs->bytes, .open = [run] { return lab::Runner{run}; }};
}

}  // namespace

lab::GpuSubjects histogram_subjects(const HistogramCase& one, int device,
                                    const std::vector<std::string>& ids) {
  FACESAT_CUDA(cudaSetDevice(device));
  const auto inputs = std::make_shared<HistogramInputs>(one);
  lab::GpuSubjects all;
  all.subjects.push_back(floor_of(inputs));
  for (const HistogramScanInfo& info : histogram_scans)
    if (std::ranges::find(ids, info.id) != ids.end())
      all.subjects.push_back(subject_of(info, inputs));
  all.room = lab::room_for_workspaces();
  return all;
}

}  // namespace facesat::gpu
