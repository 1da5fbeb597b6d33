// Device memory for tests of kernels, which run on a GPU (facesat_gpu_tests) and on the host
// (facesat_simt_tests) from the same sources. All memory is poisoned first and surrounded by
// guards.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/image.hpp"
#include "kernels/device/platform.hpp"
#include "tests/kit/pictures.hpp"

namespace facesat::test {

inline constexpr bool on_gpu = !gpu::on_host;

#if !defined(FACESAT_SIMT)

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& contents) : buffer_(contents.size()) {
    upload(contents);
  }
  T* data() const { return buffer_.data(); }
  void upload(const std::vector<T>& from) {
    FACESAT_CUDA(cudaDeviceSynchronize());  // kernels may still read or write the array
    FACESAT_CUDA(cudaMemcpy(data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    FACESAT_CUDA(cudaDeviceSynchronize());  // the copy may still run when cudaMemcpy returns
  }
  std::vector<T> download() const {
    std::vector<T> to(buffer_.size());
    FACESAT_CUDA(cudaDeviceSynchronize());
    FACESAT_CUDA(cudaMemcpy(to.data(), data(), buffer_.bytes(), cudaMemcpyDeviceToHost));
    return to;
  }

 private:
  gpu::Buffer<T> buffer_;
};

inline gpu::StreamHandle test_stream() {
  static const gpu::Stream stream = gpu::make_stream();
  return stream.get();
}

// Runs `body` once.
template <class Body>
void under_all_schedules(Body body) {
  body();
}
template <class Body>
void under_one_schedule(Body body) {
  body();
}
template <class Body>
void with_a_halted_block(Body body) {
  body();
}

#else

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& contents) : memory_(contents) {}
  T* data() { return memory_.data(); }
  void upload(const std::vector<T>& from) { memory_ = from; }
  std::vector<T> download() const { return memory_; }

 private:
  std::vector<T> memory_;
};

inline gpu::StreamHandle test_stream() {
  return {};
}

// Runs `body` with blocks in order, in reverse, and interleaved at random. Where the accesses to
// memory are in question, not the order, half of that will do.
template <class Body>
void under_all_schedules(Body body) {
  for (const simt::Schedule& schedule : {
#ifndef __SANITIZE_ADDRESS__
           simt::Schedule{simt::Order::forward, 1, 1}, simt::Schedule{simt::Order::random, 1, 3},
#endif
           simt::Schedule{simt::Order::reverse, 1, 1}, simt::Schedule{simt::Order::random, 2, 6}}) {
    simt::set_schedule(schedule);
    body();
  }
  simt::set_schedule({});
}
// Runs `body` with a block that is halted until all others have ended, in many places.
template <class Body>
void with_a_halted_block(Body body) {
#ifdef __SANITIZE_ADDRESS__
  constexpr std::uint64_t seeds = 2;
#else
  constexpr std::uint64_t seeds = 5;
#endif
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    simt::set_schedule({simt::Order::random, seed, 4, true});
    body();
  }
  simt::set_schedule({});
}
// Runs `body` with the last of the schedules of under_all_schedules() only.
template <class Body>
void under_one_schedule(Body body) {
  simt::set_schedule({simt::Order::random, 2, 6});
  body();
  simt::set_schedule({});
}

#endif

// Calls use(workspace) twice with the same workspace of this size.
template <class Use>
void twice_with_a_workspace(std::size_t bytes, Use use) {
  DeviceArray<std::byte> workspace{std::vector<std::byte>(bytes)};
  for (int run = 0; run < 2; ++run) {
    SCOPED_TRACE("run " + std::to_string(run));
    use(workspace.data());
  }
}

// A picture or table in device memory: rows on 16-byte boundaries, a border to the left and above,
// and guards past the end of each row and below.
template <class T>
class DevicePicture {
 public:
  static constexpr T poison = static_cast<T>(0xDEADBEEF);
  static constexpr int border = 16;

  // `border_value` fills row -1 and column -1; expect() checks that it is still there.
  DevicePicture(Size size, T border_value)
      : size_(size), pitch_((size.width + 3) / 4 * 4 / 16 * 16 + 3 * border) {
    host_.assign(static_cast<std::size_t>(pitch_) * (size.height + 3), poison);
    for (int x = -1; x < size.width; ++x) at(x, -1) = border_value;
    for (int y = 0; y < size.height; ++y) at(-1, y) = border_value;
    device_ = std::make_unique<DeviceArray<T>>(host_);
  }

  View<T> view() const { return {device_->data() + offset(0, 0), size_, pitch_}; }
  void upload(View<const T> from) {
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) at(x, y) = from.row(y)[x];
    device_->upload(host_);
  }
  Image<T> inside() const {
    const std::vector<T> now = device_->download();
    Image<T> image(size_);
    for (int y = 0; y < size_.height; ++y)
      std::copy_n(now.begin() + static_cast<std::ptrdiff_t>(offset(0, y)), size_.width,
                  image.row(y));
    return image;
  }
  // The element before the first one of row y may be overwritten with this value.
  void allow_before_row(int y, T value) { after_.emplace_back(offset(-1, y), value); }
  // Fills the inside with poison again.
  void clear() {
    for (int y = 0; y < size_.height; ++y)
      for (int x = 0; x < size_.width; ++x) at(x, y) = poison;
    device_->upload(host_);
  }

  // Expects `expected` inside and everything else unchanged, except that rows may be overwritten up
  // to the next multiple of 4.
  void expect(View<const T> expected, const std::string& what) const {
    const std::vector<T> now = device_->download();
    std::vector<T> outside = host_;
    for (const auto& [place, value] : after_) outside[place] = value;
    std::size_t wrong = 0, touched = 0;
    for (std::size_t i = 0; i < now.size(); ++i) {
      const int x = static_cast<int>(i % pitch_) - border, y = static_cast<int>(i / pitch_) - 1;
      const bool row = y >= 0 && y < size_.height;
      if (row && x >= 0 && x < size_.width)
        wrong += now[i] != expected.row(y)[x];
      else if (!(row && x >= size_.width && x < (size_.width + 3) / 4 * 4))
        touched += now[i] != outside[i];
    }
    EXPECT_EQ(wrong, 0u) << what << ": elements that are wrong";
    EXPECT_EQ(touched, 0u) << what << ": elements outside that were written";
  }

 private:
  std::size_t offset(int x, int y) const {
    return static_cast<std::size_t>(y + 1) * pitch_ + x + border;
  }
  T& at(int x, int y) { return host_[offset(x, y)]; }

  Size size_;
  int pitch_;
  std::vector<T> host_;
  std::vector<std::pair<std::size_t, T>> after_;
  std::unique_ptr<DeviceArray<T>> device_;
};

}  // namespace facesat::test
