#include "kernels/frame_input.hpp"

#include <algorithm>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "core/backend.hpp"
#include "kernels/image/steps.hpp"

namespace facesat::gpu {
namespace {

// Copies with all threads: a single one does not copy as fast as the memory allows.
template <class Pixel>
void copy_by_all(View<const Pixel> from, View<Pixel> to) {
  constexpr int bytes_together = 1 << 18;  // copied by one task: enough to outweigh its start
  const int width = from.size.width;
  const int rows =
      std::max(1, bytes_together / std::max(1, width * static_cast<int>(sizeof(Pixel))));
  tbb::parallel_for(tbb::blocked_range<int>(0, from.size.height, rows),
                    [&](const tbb::blocked_range<int>& band) {
                      const Rect part{0, band.begin(), width, static_cast<int>(band.size())};
                      copy(from.sub(part), to.sub(part));
                    });
}

template <class Pixel>
void make_room(DeviceImage<Pixel>& image, Size size, cudaStream_t stream) {
  if (image.view().size == size) return;
  image.resize(size, DeviceImage<Pixel>::Border::none, stream);
  image.clear(stream);
}

bool is_page_locked(const void* host) {
  cudaPointerAttributes attributes{};
  FACESAT_CUDA(cudaPointerGetAttributes(&attributes, host));
  return attributes.type == cudaMemoryTypeHost;
}

}  // namespace

void FrameInput::prepare(Size frame, bool equalizes) {
  make_room(gray_, frame, stream_);
  make_room(frame_, frame, stream_);
  equalizes_ = equalizes;
  if (!equalizes) return;
  reserve(histogram_, equalize_workspace_words);
  FACESAT_CUDA(cudaMemsetAsync(histogram_.data(), 0, histogram_.bytes(), stream_));
}

View<const Rgb> FrameInput::frame_as_rgb() const {
  const View<Bgr> frame = frame_.view();
  return {reinterpret_cast<const Rgb*>(frame.data), frame.size, frame.pitch};
}

void FrameInput::load(View<const Bgr> frame) {
  upload(frame, frame_staging_, frame_);
  record(gray_begin_);
  enqueue_gray(frame_.view(), gray_.view(), stream_);
  finish_gray();
}

void FrameInput::load(View<const Rgb> frame) {
  upload({reinterpret_cast<const Bgr*>(frame.data), frame.size, frame.pitch}, frame_staging_,
         frame_);
  record(gray_begin_);
  enqueue_gray(frame_as_rgb(), gray_.view(), stream_);
  finish_gray();
}

void FrameInput::load(View<const std::uint8_t> gray) {
  upload(gray, gray_staging_, gray_);
  record(gray_begin_);
  finish_gray();
}

void FrameInput::load(const ImageView& on_device) {
  staging_ms_ = 0;
  others_.wait(on_device, stream_);
  record(upload_begin_);
  switch (on_device.format) {
    case PixelFormat::gray:
      copy_frame(on_device, gray_.view(), stream_);
      record(gray_begin_);
      break;
    case PixelFormat::bgr:
      copy_frame(on_device, frame_.view(), stream_);
      record(gray_begin_);
      enqueue_gray(frame_.view(), gray_.view(), stream_);
      break;
    case PixelFormat::rgb:
      copy_frame(on_device, frame_.view(), stream_);
      record(gray_begin_);
      enqueue_gray(frame_as_rgb(), gray_.view(), stream_);
      break;
    case PixelFormat::bgra:
      make_room(wide_frame_, gray_.view().size, stream_);
      copy_frame(on_device, wide_frame_.view(), stream_);
      record(gray_begin_);
      enqueue_gray(wide_frame_.view(), gray_.view(), stream_);
  }
  finish_gray();
}

// The device reads page-locked memory by itself. Other frames are first copied there; rows are then
// packed as on the device.
template <class Pixel>
void FrameInput::upload(View<const Pixel> from, PinnedBuffer<Pixel>& staging,
                        const DeviceImage<Pixel>& to) {
  const View<Pixel> target = to.view();
  if (from.pitch >= 0 && is_page_locked(from.data)) {
    staging_ms_ = 0;
    record(upload_begin_);
    FACESAT_CUDA(cudaMemcpy2DAsync(target.data, target.pitch * sizeof(Pixel), from.data,
                                   from.pitch * sizeof(Pixel), from.size.width * sizeof(Pixel),
                                   from.size.height, cudaMemcpyHostToDevice, stream_));
    return;
  }
  const std::size_t count = static_cast<std::size_t>(target.pitch) * from.size.height;
  FACESAT_CUDA(cudaStreamSynchronize(stream_));  // the last copy may still read the staging
  if (staging.size() < count) {
    staging = PinnedBuffer<Pixel>();
    staging = PinnedBuffer<Pixel>(count);
  }
  staging_ms_ = 0;
  {
    const Stopwatch watch(staging_ms_);
    copy_by_all(from, View<Pixel>{staging.data(), from.size, target.pitch});
  }
  record(upload_begin_);
  FACESAT_CUDA(cudaMemcpyAsync(target.data, staging.data(), count * sizeof(Pixel),
                               cudaMemcpyHostToDevice, stream_));
}

void FrameInput::record(const Event& event) const {
  if (measures_) FACESAT_CUDA(cudaEventRecord(event.get(), stream_));
}

void FrameInput::finish_gray() {
  if (equalizes_) enqueue_equalize(gray_.view(), histogram_.data(), stream_);
  record(gray_end_);
}

}  // namespace facesat::gpu
