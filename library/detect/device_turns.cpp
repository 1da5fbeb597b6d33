#include "library/detect/device_turns.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace facesat {

DeviceTurns::DeviceTurns(const std::vector<Backends::Device>& devices, MakeSet make)
    : make_(std::move(make)) {
  for (const Backends::Device& device : devices) devices_.push_back({device});
}

DetectorSet& DeviceTurns::Turn::detectors() {
  if (!set_) set_ = turns_->make_(turns_->devices_[device_].backend);
  return *set_;
}

gpu::JpegDecoder& DeviceTurns::Turn::jpeg_decoder() {
  Device& device = turns_->devices_[device_];
  {
    const std::scoped_lock lock(turns_->mutex_);
    if (!decoder_ && !device.idle_decoders.empty()) {
      decoder_ = std::move(device.idle_decoders.back());
      device.idle_decoders.pop_back();
    }
  }
  if (!decoder_) decoder_ = device.backend.make_jpeg_decoder();
  return *decoder_;
}

void DeviceTurns::Turn::keep() {
  const std::scoped_lock lock(turns_->mutex_);
  Device& device = turns_->devices_[device_];
  if (device.has_failed) return;
  if (set_) device.idle.give_back(std::move(set_));
  if (decoder_) device.idle_decoders.push_back(std::move(decoder_));
}

DeviceTurns::Turn::~Turn() {
  if (!turns_) return;
  // Their memory is free before the next turn begins. The decoder may have worked in a stream of
  // the detectors.
  decoder_.reset();
  set_.reset();
  {
    const std::scoped_lock lock(turns_->mutex_);
    --turns_->devices_[device_].images;
  }
  turns_->freed_.notify_one();
}

DeviceTurns::Device* DeviceTurns::least_busy() {
  Device* best = nullptr;
  for (Device& device : devices_)
    if (!device.has_failed && device.images < images_per_device &&
        (!best || device.images < best->images))
      best = &device;
  return best;
}

bool DeviceTurns::all_have_failed() const {
  return std::ranges::all_of(devices_, &Device::has_failed);
}

std::optional<DeviceTurns::Turn> DeviceTurns::take(Size image, const ShouldStop& should_stop) {
  constexpr std::chrono::milliseconds between_polls{100};
  std::unique_lock lock(mutex_);
  while (!all_have_failed()) {
    if (Device* const device = least_busy()) {
      ++device->images;
      return Turn(*this, static_cast<std::size_t>(device - devices_.data()),
                  device->idle.take(image));
    }
    freed_.wait_for(lock, between_polls);
    check_stop(should_stop);
  }
  return std::nullopt;
}

std::optional<std::string> DeviceTurns::fail(std::size_t index, const std::string& reason) {
  std::string sentence;
  {
    const std::scoped_lock lock(mutex_);
    Device& device = devices_[index];
    if (device.has_failed) return std::nullopt;
    device.has_failed = true;
    sentence = fmt::format("{} has failed ({}); {}", device.backend.name, reason,
                           all_have_failed() ? "the CPU goes on with its pictures"
                                             : "the others go on with its pictures");
    failures_.push_back(sentence);
  }
  freed_.notify_all();
  drop_idle(index);
  return sentence;
}

bool DeviceTurns::has_others(std::size_t index) {
  const std::scoped_lock lock(mutex_);
  return std::ranges::any_of(devices_, [&](const Device& device) {
    return &device != &devices_[index] && !device.has_failed;
  });
}

bool DeviceTurns::has_any() {
  const std::scoped_lock lock(mutex_);
  return !all_have_failed();
}

std::vector<std::string> DeviceTurns::failures() {
  const std::scoped_lock lock(mutex_);
  return failures_;
}

void DeviceTurns::drop_idle(std::size_t index) {
  // Destroyed when the lock is released, because that waits for the device.
  IdleSets sets;
  std::vector<std::unique_ptr<gpu::JpegDecoder>> decoders;
  const std::scoped_lock lock(mutex_);
  std::swap(sets, devices_[index].idle);
  std::swap(decoders, devices_[index].idle_decoders);
}

}  // namespace facesat
