#include "kernels/device/device_frame.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/frame_memory.hpp"
#include "kernels/cascade/evaluate.hpp"
#include "kernels/cuda_backend.hpp"
#include "kernels/device/cuda.hpp"

namespace facesat::gpu {
int device_of(const void* data) {
  cudaPointerAttributes attributes{};
  FACESAT_CUDA(cudaPointerGetAttributes(&attributes, data));
  if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
    throw ArgumentError("an array is said to be on a device, but its memory is not");
  return attributes.device;
}

void FrameWait::wait(const ImageView& frame, cudaStream_t stream) {
  if (frame.stream == stream) return;
  const int device = device_of(frame.pixels);
  {
    const KeptDevice kept;
    FACESAT_CUDA(cudaSetDevice(device));  // that of the event must be that of the frame's stream
    if (device != device_) {
      cudaEvent_t created{};
      FACESAT_CUDA(cudaEventCreateWithFlags(&created, cudaEventDisableTiming));
      end_ = Event(created);
      device_ = device;
    }
    FACESAT_CUDA(cudaEventRecord(end_.get(), static_cast<cudaStream_t>(frame.stream)));
  }
  FACESAT_CUDA(cudaStreamWaitEvent(stream, end_.get(), 0));
}

Image<std::uint32_t> downloaded_part(View<const std::uint32_t> table, const Rect& place) {
  const Size with_border{place.width + 1, place.height + 1};
  const Image<std::uint32_t> sums =
      downloaded<std::uint32_t>({table.row(place.y - 1) + place.x - 1, with_border, table.pitch});
  Image<std::uint32_t> own({place.width, place.height});
  for (int y = 0; y < place.height; ++y)
    for (int x = 0; x < place.width; ++x)
      own.row(y)[x] =
          sums.row(y + 1)[x + 1] - sums.row(y + 1)[0] - sums.row(0)[x + 1] + sums.row(0)[0];
  return own;
}

// ---- what callers of the CUDA backend need besides it: whether a device suits a cascade, copies
// of images, page-locked memory of frames, and the thread's current device
namespace {

std::atomic<int> device_of_frames = 0;

void free_pages(void* memory, std::size_t bytes) {
  ::madvise(memory, bytes, MADV_DOFORK);
  std::free(memory);
}

// Null if the system has no more memory to be locked, or if the device has failed. The driver would
// clear small pages, for one thread after the other. Here each thread clears its own, large ones
// where the system has them, and the driver only locks them, which takes half of the time.
void* allocate(std::size_t bytes) {
  constexpr std::size_t large_page = 2 << 20;
  const KeptDevice kept;
  if (cudaSetDevice(device_of_frames) != cudaSuccess) {
    cudaGetLastError();  // forgets the error: ordinary memory will do
    return nullptr;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t alignment = bytes < large_page ? page : large_page;
  void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) & -alignment);
  if (!memory) return nullptr;
  ::madvise(memory, bytes, MADV_HUGEPAGE);
  ::madvise(memory, bytes, MADV_DONTFORK);  // what the device reads must stay this process's
  std::memset(memory, 0, bytes);
  if (cudaHostRegister(memory, bytes, cudaHostRegisterPortable) == cudaSuccess) return memory;
  cudaGetLastError();  // as above
  free_pages(memory, bytes);
  return nullptr;
}

void free_frame(void* memory, std::size_t bytes) {
  if (cudaHostUnregister(memory) == cudaSuccess)
    free_pages(memory, bytes);
  else
    cudaGetLastError();  // the driver may still use it for a device that has not failed
}

}  // namespace

void download(const ImageView& on_device, View<std::uint8_t> to) {
  const KeptDevice kept;
  FACESAT_CUDA(cudaSetDevice(device_of(on_device.pixels)));
  const Stream stream = make_stream();
  FrameWait().wait(on_device, stream.get());
  copy_frame(on_device, to, stream.get());
  FACESAT_CUDA(cudaStreamSynchronize(stream.get()));
}

KeptDevice::KeptDevice() {
  if (cudaGetDevice(&device_) != cudaSuccess) device_ = -1;
}
KeptDevice::~KeptDevice() {
  if (device_ >= 0) cudaSetDevice(device_);
}

std::string why_not(int device, const Cascade& cascade) {
  FACESAT_CUDA(cudaSetDevice(device));
  if (!has_code())
    return fmt::format("this build has no code for device {}: see CMAKE_CUDA_ARCHITECTURES",
                       device);
  int most = 0;
  FACESAT_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const int patch = min_shared_bytes(cascade);
  if (patch > max_patch_bytes)
    return fmt::format("the windows of {} ({}x{} pixels) are larger than the GPU's kernels allow",
                       cascade.name, cascade.window.width, cascade.window.height);
  const int needed = patch + evaluate_static_bytes;
  if (needed > most)
    return fmt::format(
        "the windows of {} ({}x{} pixels) need {} KiB of a GPU's shared memory, device {} has {}",
        cascade.name, cascade.window.width, cascade.window.height, needed >> 10, device,
        most >> 10);
  return "";
}

void use_for_frame_memory(int device) {
  device_of_frames = device;
  allocate_frames_with({allocate, free_frame});
}

}  // namespace facesat::gpu
