#include "kernels/device/device_frame.hpp"

namespace facesat::gpu {
namespace {

// Records the end of the work that a stream of `device` has been given.
Event end_of_work(int device, cudaStream_t stream) {
  int current = 0;
  FACESAT_CUDA(cudaGetDevice(&current));
  FACESAT_CUDA(cudaSetDevice(device));  // that of the event must be that of the stream
  cudaEvent_t created{};
  cudaError_t status = cudaEventCreateWithFlags(&created, cudaEventDisableTiming);
  Event event(created);
  if (status == cudaSuccess) status = cudaEventRecord(event.get(), stream);
  FACESAT_CUDA(cudaSetDevice(current));
  check(status, "cudaEventRecord");
  return event;
}

}  // namespace

int device_of(const void* data) {
  cudaPointerAttributes attributes{};
  FACESAT_CUDA(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw ArgumentError("an array is said to be on a device, but its memory is not");
  return attributes.device;
}

void wait_for(const ImageView& frame, cudaStream_t stream) {
  const Event end = end_of_work(device_of(frame.pixels), static_cast<cudaStream_t>(frame.stream));
  FACESAT_CUDA(cudaStreamWaitEvent(stream, end.get(), 0));
}

}  // namespace facesat::gpu
