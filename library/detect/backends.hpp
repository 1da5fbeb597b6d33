// Chooses the backends that detection runs on, from what the user wants and this machine has.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "facesat.hpp"
#include "kernels/jpeg/jpeg_decoder.hpp"

namespace facesat {

using Cascades = std::vector<std::shared_ptr<const Cascade>>;

// Throws BackendError for options that no machine can follow, without asking devices.
void check(const BackendOptions& options);

// The choice of backend: CUDA devices, or the CPU.
class Backends {
 public:
  // A CUDA device.
  struct Device {
    std::string name;  // "device 0 (NVIDIA H200)"
    std::function<std::unique_ptr<Backend>()> make;
    int id = 0;
    std::function<std::unique_ptr<gpu::JpegDecoder>()> make_jpeg_decoder{};
  };

  // Throws BackendError if what the options demand is not available, or cannot evaluate the
  // cascades.
  Backends(const BackendOptions& options, const Cascades& cascades);
  // These devices; none: the CPU, for the reason in `remark`.
  Backends(BackendChoice choice, std::vector<Device> devices, std::string remark = "");

  bool on_gpu() const { return !devices_.empty(); }
  const std::vector<Device>& devices() const { return devices_; }
  // May the CPU take over when a device fails?
  bool may_fall_back() const { return on_gpu() && choice_ == BackendChoice::automatic; }

  // A sentence on which backend was chosen, if the choice was left to the library; else empty.
  const std::string& remark() const { return remark_; }

  // "CPU", or the name of the device (the first, if there are several).
  const std::string& device_name() const { return device_name_; }

  // The SAT algorithm used on devices, as BackendOptions names it; empty on the CPU.
  std::string sat() const;

  // Makes a new backend: on the first device, or on the CPU.
  std::unique_ptr<Backend> make() const;

 private:
  std::string why_no_gpu(const BackendOptions& options, const Cascades& cascades);

  BackendChoice choice_;
  std::vector<Device> devices_;  // none: the CPU
  std::string sat_;
  std::string device_name_ = "CPU";
  std::string remark_;
};

// Leaves out the devices for which why_not(id) gives a reason or throws DeviceError. All devices
// are asked at the same time, because each takes tenths of a second to start.
struct LeftOut {
  std::string device, why;
};
std::vector<LeftOut> leave_out_unusable(std::vector<Backends::Device>& devices,
                                        const std::function<std::string(int)>& why_not);

// Can the devices that these options ask for take seconds to start, and can the CPU do their work
// meanwhile?
bool may_start_in_background(const BackendOptions& options);

}  // namespace facesat
