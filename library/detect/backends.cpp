#include "library/detect/backends.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "kernels/cuda_backend.hpp"
#include "kernels/device/gpu_info.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat {
namespace {

void check_sat(const BackendOptions& options) {
  if (options.sat.empty()) return;
  if (options.choice == BackendChoice::cpu)
    throw BackendError(
        "sat chooses among the algorithms of the GPU; with backend cpu there is "
        "nothing to choose");
  const gpu::SatChoice choice = gpu::choose_sat(options.sat);
  if (!choice.algorithm) throw BackendError(fmt::format("sat {}: {}", options.sat, choice.why_not));
}

// The number of the device; nullopt for "all".
std::optional<int> device_number(const std::string& text) {
  if (text == "all") return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw BackendError(fmt::format("device {}: expected a number or \"all\"", text));
  return number;
}

}  // namespace

Backends::Backends(const BackendOptions& options,
                   const std::vector<std::shared_ptr<const Cascade>>& cascades)
    : choice_(options.choice), sat_(options.sat) {
  check_sat(options);
  device_number(options.device);  // throws if it is neither a number nor "all"
  if (choice_ == BackendChoice::cpu) return;
  const std::string why = why_no_gpu(options, cascades);
  if (why.empty()) return;
  devices_.clear();
  device_name_ = "CPU";
  if (choice_ == BackendChoice::cuda) throw BackendError(fmt::format("backend cuda: {}", why));
  remark_ = fmt::format("detecting on the CPU: {}", why);
}

std::string Backends::why_no_gpu(const BackendOptions& options,
                                 const std::vector<std::shared_ptr<const Cascade>>& cascades) {
  if (!gpu::is_built_in()) return "this build has no CUDA backend";
  const gpu::KeptDevice kept;
  std::string why_none;
  const std::vector<DeviceInfo> found = gpu::devices(&why_none);
  if (found.empty()) return why_none;
  const std::optional<int> wanted = device_number(options.device);
  for (const DeviceInfo& device : found)
    if (!wanted || device.id == *wanted) devices_.push_back(device.id);
  if (devices_.empty())
    throw BackendError(fmt::format("device {}: there is no such device; 'facesat info' lists them",
                                   options.device));
  try {
    for (const int device : devices_)
      for (const auto& cascade : cascades)
        if (std::string why = gpu::why_not(device, *cascade); !why.empty()) return why;
  } catch (const DeviceError& error) {
    return error.what();
  }
  device_name_ = found[static_cast<std::size_t>(devices_.front())].name;
  remark_ = fmt::format("detecting on {}", device_name_);
  if (devices_.size() > 1) remark_ += fmt::format(" and {} more", devices_.size() - 1);
  return "";
}

std::string Backends::sat() const {
  if (!on_gpu()) return "";
  return sat_.empty() ? std::string(gpu::sat_algorithms().front()->id) : sat_;
}

std::unique_ptr<Backend> Backends::make(int place) const {
  return on_gpu() ? gpu::make_cuda_backend(devices_[static_cast<std::size_t>(place)], sat_)
                  : make_cpu_backend();
}

}  // namespace facesat
