// One place between two threads: what comes replaces what nobody has taken, so that nothing queues.
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
