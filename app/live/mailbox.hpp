// A single place between two threads: a new value replaces one that was not taken, so that nothing
// queues up.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

namespace facesat::app {

template <class T>
class Mailbox {
 public:
  void put(T value) {
    const std::scoped_lock lock(mutex_);
    value_ = std::move(value);
  }

  // Never waits.
  std::optional<T> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(value_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<T> value_;
};

}  // namespace facesat::app
