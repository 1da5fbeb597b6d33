// The CUDA backend's interface, without CUDA headers: app and core include this header.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/backend.hpp"
#include "kernels/cascade/late_division.hpp"

namespace facesat::gpu {

// Frames of one size in a row that a backend processes before it measures; each of them must begin
// while no other backend of the device has a frame under way in this process.
constexpr int frames_before_measuring = 8;

struct CudaSettings {
  // The atlas is the picture that holds all levels of a pyramid; levels that would need one of more
  // pixels are processed in groups. 0: a limit that suits the device's memory.
  std::size_t max_atlas_pixels = 0;
  // Which stages of Haar cascades are evaluated on tensor cores; without groups, all stages are
  // evaluated from integral images. nullopt: what is fastest, by a measurement that takes as long
  // as about 30 frames, once in a process for a device, a cascade and an order of magnitude of
  // windows; see frames_before_measuring. The windows are the same.
  std::optional<LateDivision> late;
  // false: Backend::times() is zero. Measuring takes some microseconds per frame.
  bool measures_steps = true;
};

// A backend on one device, which processes one frame at a time: everything from the grey image to
// the windows is one CUDA graph. `sat` chooses a SAT (summed area table) algorithm, as choose_sat()
// does; empty: the default. Throws DeviceError if this build has no CUDA or the device does not
// exist, and ArgumentError if the algorithm does not exist.
std::unique_ptr<Backend> make_cuda_backend(int device, std::string_view sat,
                                           const CudaSettings& settings = {});

// Copies an image from the memory of a device, when the work that its stream has been given is
// done. `to` has a row of bytes for each row. Throws ArgumentError if the image is not there,
// DeviceError.
void download(const ImageView& on_device, View<std::uint8_t> to);

// From now on, frames are in page-locked memory (see core/frame_memory.hpp), which needs a device.
void use_for_frame_memory(int device);

// Restores the calling thread's current device, which all functions of this library may change.
class KeptDevice {
 public:
  KeptDevice();
  ~KeptDevice();
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;

 private:
  int device_ = -1;  // negative: there is none
};

// A sentence that says why the device cannot evaluate the cascade; empty if it can.
std::string why_not(int device, const Cascade& cascade);

}  // namespace facesat::gpu
