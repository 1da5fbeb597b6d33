#include "library/detect/backends.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <future>
#include <optional>

#include <fmt/format.h>

#include "core/parse_number.hpp"
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
  const auto number = parse_number<int>(text);
  if (!number || *number < 0)
    throw BackendError(fmt::format("device {}: expected a number or \"all\"", text));
  return *number;
}

// Why a device cannot evaluate all cascades; empty if it can.
std::string why_not(int device, const Cascades& cascades) {
  for (const auto& cascade : cascades)
    if (std::string why = gpu::why_not(device, *cascade); !why.empty()) return why;
  return "";
}

}  // namespace

void check(const BackendOptions& options) {
  check_sat(options);
  device_number(options.device);  // throws if it is neither a number nor "all"
}

std::vector<LeftOut> leave_out_unusable(std::vector<Backends::Device>& devices,
                                        const std::function<std::string(int)>& why_not) {
  std::vector<std::future<std::string>> answers;
  for (const Backends::Device& device : devices)
    answers.push_back(std::async(std::launch::async, [&why_not, id = device.id]() -> std::string {
      try {
        return why_not(id);
      } catch (const Error& error) {
        return error.what();
      }
    }));
  std::vector<LeftOut> left_out;
  std::vector<Backends::Device> usable;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    std::string why = answers[i].get();
    if (why.empty())
      usable.push_back(std::move(devices[i]));
    else
      left_out.push_back({devices[i].name, std::move(why)});
  }
  devices = std::move(usable);
  return left_out;
}

Backends::Backends(BackendChoice choice, std::vector<Device> devices, std::string remark)
    : choice_(choice), devices_(std::move(devices)), remark_(std::move(remark)) {
  if (on_gpu()) device_name_ = devices_.front().name;
}

Backends::Backends(const BackendOptions& options, const Cascades& cascades)
    : choice_(options.choice), sat_(options.sat) {
  check(options);
  if (choice_ == BackendChoice::cpu) return;
  const std::string why = why_no_gpu(options, cascades);
  if (why.empty()) return;
  devices_.clear();
  device_name_ = "CPU";
  if (choice_ == BackendChoice::cuda) throw BackendError(fmt::format("backend cuda: {}", why));
  remark_ = fmt::format("detecting on the CPU: {}", why);
}

std::string Backends::why_no_gpu(const BackendOptions& options, const Cascades& cascades) {
  if (!gpu::is_built_in()) return "this build has no CUDA backend";
  const gpu::KeptDevice kept;
  std::string why_none;
  const std::vector<DeviceInfo> found = gpu::devices(&why_none);
  if (found.empty()) return why_none;
  const std::optional<int> wanted = device_number(options.device);
  gpu::CudaSettings settings;
  settings.measures_steps = options.measures_steps;
  for (const DeviceInfo& device : found)
    if (!wanted || device.id == *wanted)
      devices_.push_back({fmt::format("device {} ({})", device.id, device.name),
                          [id = device.id, sat = sat_, settings] {
                            return gpu::make_cuda_backend(id, sat, settings);
                          },
                          device.id, [id = device.id] { return gpu::make_jpeg_decoder(id); }});
  if (devices_.empty())
    throw BackendError(fmt::format("device {}: there is no such device; 'facesat info' lists them",
                                   options.device));
  const std::vector<LeftOut> left_out =
      leave_out_unusable(devices_, [&](int device) { return why_not(device, cascades); });
  if (devices_.empty()) return left_out.front().why;
  device_name_ = found[static_cast<std::size_t>(devices_.front().id)].name;
  gpu::use_for_frame_memory(devices_.front().id);
  remark_ = fmt::format("detecting on {}", device_name_);
  if (devices_.size() > 1) remark_ += fmt::format(" and {} more", devices_.size() - 1);
  for (const auto& [device, why] : left_out)
    remark_ += fmt::format("; {} is left out: {}", device, why);
  return "";
}

std::string Backends::sat() const {
  if (!on_gpu()) return "";
  return sat_.empty() ? std::string(gpu::sat_algorithms().front()->id) : sat_;
}

std::unique_ptr<Backend> Backends::make() const {
  return on_gpu() ? devices_.front().make() : make_cpu_backend();
}

// Where no NVIDIA driver is loaded, it is known at once that there is no device. A device that is
// asked for by its number may not exist: then nothing must have been detected.
bool may_start_in_background(const BackendOptions& options) {
  const bool may_exist =
      std::ranges::any_of(std::to_array({"/dev/nvidiactl", "/dev/nvhost-ctrl", "/dev/dxg"}),
                          [](const char* file) { return std::filesystem::exists(file); });
  const bool is_any = options.device == "0" || options.device == "all";
  return options.choice == BackendChoice::automatic && is_any && gpu::is_built_in() && may_exist;
}

// ---- what this machine and this build have

std::vector<DeviceInfo> devices(std::string* why_none) {
  return gpu::devices(why_none);
}

std::string version() {
  return FACESAT_VERSION;
}

}  // namespace facesat
