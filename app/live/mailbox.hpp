// One place between two threads: what comes replaces what nobody has taken, so that nothing queues.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace facesat::app {

template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::scoped_lock lock(mutex_);
    dropped_ += value_.has_value();
    value_ = std::move(value);
  }

  // Never waits.
  std::optional<T> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

  // How many were replaced.
  std::uint64_t dropped() const {
    const std::scoped_lock lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<T> value_;
  std::uint64_t dropped_ = 0;
};

}  // namespace facesat::app
