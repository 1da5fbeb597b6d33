// For builds without CUDA: there are no devices and no algorithms.
#include "kernels/boosting/cuda_screen.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/filter/algorithm.hpp"
#include "kernels/filter/integral_histogram.hpp"
#include "kernels/jpeg/jpeg_decoder.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/scan/algorithm.hpp"
#include "kernels/tasks/problems.hpp"

namespace facesat::gpu {
namespace {

constexpr const char* no_cuda = "this build has no CUDA backend";

[[noreturn]] void refuse() {
  throw DeviceError(no_cuda);
}

}  // namespace

// ---- devices ----

bool is_built_in() {
  return false;
}
std::vector<DeviceInfo> devices(std::string* why_none) {
  if (why_none) *why_none = "this program was built without CUDA";
  return {};
}
CopySpeed copy_speed(int) {
  refuse();
}
std::string why_not(int, const Cascade&) {
  return no_cuda;
}
void use_for_frame_memory(int) {}
KeptDevice::KeptDevice() = default;
KeptDevice::~KeptDevice() = default;

// ---- what they do ----

std::unique_ptr<Backend> make_cuda_backend(int, std::string_view, const CudaSettings&) {
  refuse();
}
std::unique_ptr<JpegDecoder> make_jpeg_decoder(int) {
  refuse();
}
training::MakeScreen make_cuda_screens(std::vector<int>, std::size_t) {
  refuse();
}
std::unique_ptr<PictureFilter> make_cuda_picture_filter(int) {
  refuse();
}
std::unique_ptr<BoxSearch> make_cuda_box_search(int) {
  refuse();
}
void download(const ImageView&, View<std::uint8_t>) {
  refuse();
}
void enqueue_array_sat(const ConstArrayView&, const ArrayView&, const SatOptions&) {
  refuse();
}
void enqueue_array_scan(ScanTask, const std::string&, void*) {
  refuse();
}

// ---- algorithms ----

Algorithms<SatAlgorithm> sat_algorithms() {
  return {};
}
Algorithms<ScanAlgorithm> scan_algorithms() {
  return {};
}
Algorithms<FilterAlgorithm> filter_algorithms() {
  return {};
}
std::span<const KnapsackSolver> knapsack_solvers() {
  return {};
}
std::span<const HalftoneSolver> halftone_solvers() {
  return {};
}
std::span<const SatSolver> sat_solvers() {
  return {};
}

}  // namespace facesat::gpu
