// BoxSearch on a GPU: uploads the region in which the box can be, and computes its integral
// histogram and the best place there.
#include <algorithm>

#include "kernels/device/cuda.hpp"
#include "kernels/filter/integral_histogram.hpp"

namespace facesat::gpu {
namespace {

class CudaBoxSearch final : public BoxSearch {
 public:
  explicit CudaBoxSearch(int device) : device_(device) {
    FACESAT_CUDA(cudaSetDevice(device));
    stream_ = make_stream();
    best_ = Buffer<std::uint64_t>(box_search_words);
  }

  BoxMatch find(View<const std::uint8_t> gray, const Histogram& object, const Rect& box,
                int reach) override {
    const BoxPlaces places = places_of(box, reach, gray.size);
    FACESAT_CUDA(cudaSetDevice(device_));
    prepare({std::min(box.width + 2 * reach, gray.size.width),
             std::min(box.height + 2 * reach, gray.size.height)});
    const View<const std::uint8_t> from = gray.sub(places.region());
    const View<std::uint8_t> region = region_.view(from.size);
    FACESAT_CUDA(cudaMemcpy2DAsync(
        region.data, static_cast<std::size_t>(region.pitch), from.data,
        static_cast<std::size_t>(from.pitch), static_cast<std::size_t>(from.size.width),
        static_cast<std::size_t>(from.size.height), cudaMemcpyHostToDevice, stream_.get()));
    enqueue_integral_histogram(region, tables_, HistogramScan::wf_tis, nullptr, stream_.get());
    enqueue_box_search(tables_, object, places, best_.data(), stream_.get());
    std::uint64_t best = 0;
    FACESAT_CUDA(
        cudaMemcpyAsync(&best, best_.data(), sizeof best, cudaMemcpyDeviceToHost, stream_.get()));
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));
    return match_of(best, box);
  }

 private:
  // Makes room for regions of up to this size.
  void prepare(Size size) {
    if (size == size_) return;
    size_ = {};
    region_.resize(size, DeviceImage<std::uint8_t>::Border::none, stream_.get());
    reserve(memory_, integral_histogram_bytes(size, histogram_bins));
    FACESAT_CUDA(cudaMemsetAsync(memory_.data(), 0, memory_.bytes(), stream_.get()));
    tables_ = integral_histogram_in(memory_.data(), size, histogram_bins);
    size_ = size;
  }

  int device_;
  Stream stream_;
  Size size_;  // that there is room for
  DeviceImage<std::uint8_t> region_;
  Buffer<std::byte> memory_;  // of tables_
  IntegralHistogram tables_;
  Buffer<std::uint64_t> best_;
};

}  // namespace

std::unique_ptr<BoxSearch> make_cuda_box_search(int device) {
  return std::make_unique<CudaBoxSearch>(device);
}

}  // namespace facesat::gpu
