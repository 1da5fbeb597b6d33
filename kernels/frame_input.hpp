// A frame's way to the grey image on the device: upload or copy, conversion, equalisation.
#pragma once

#include <cstdint>

#include "core/image.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/device/device_frame.hpp"

namespace facesat::gpu {

// All work is enqueued in one stream, whose device must be the current one in all calls.
class FrameInput {
 public:
  // `measures`: are the times below wanted?
  FrameInput(cudaStream_t stream, bool measures) : stream_(stream), measures_(measures) {}

  // For frames of this size; waits for nothing.
  void prepare(Size frame, bool equalizes);

  // Frames in host memory. They may be overwritten after the call, or, in page-locked memory, when
  // the grey image is complete.
  void load(View<const Bgr> frame);
  void load(View<const Rgb> frame);
  void load(View<const std::uint8_t> gray);
  // In the memory of any device, from where it is read after the work that its own stream has been
  // given; it may be overwritten when the grey image is complete.
  void load(const ImageView& on_device);

  View<std::uint8_t> gray() const { return gray_.view(); }

  // Of the frame loaded last, whose grey image must be complete.
  double upload_ms() const { return staging_ms_ + elapsed_ms(upload_begin_, gray_begin_); }
  double gray_ms() const { return elapsed_ms(gray_begin_, gray_end_); }

 private:
  View<const Rgb> frame_as_rgb() const;
  template <class Pixel>
  void upload(View<const Pixel> from, PinnedBuffer<Pixel>& staging, const DeviceImage<Pixel>& to);
  void record(const Event& event) const;
  void finish_gray();

  const cudaStream_t stream_;
  const bool measures_;
  FrameWait others_;
  Event upload_begin_ = make_event(), gray_begin_ = make_event(), gray_end_ = make_event();
  double staging_ms_ = 0;  // of the last upload: copying into page-locked memory
  bool equalizes_ = false;

  DeviceImage<Bgr> frame_;  // or RGB
  DeviceImage<Bgra> wide_frame_;
  DeviceImage<std::uint8_t> gray_;
  PinnedBuffer<Bgr> frame_staging_;
  PinnedBuffer<std::uint8_t> gray_staging_;
  Buffer<std::uint32_t> histogram_;
};

}  // namespace facesat::gpu
