// Shows pictures in a window, one at a time, and waits for a key after each of them.
#pragma once

#include <atomic>
#include <functional>
#include <semaphore>

#include "app/detect/item.hpp"

namespace facesat::app {

class Viewer {
 public:
  // Throws UsageError if no window can be opened. To be constructed before other threads start.
  Viewer();

  // Runs `work`, which may call show(), in another thread, and the window in this one, which must
  // be the main thread. Returns when the work is done, and throws what it throws.
  void run(const std::function<void()>& work);

  // Shows the item's picture, if there is one, and waits until the user wants to see the next one.
  // Once the program is interrupted, returns at once. To be called by one thread at a time.
  void show(const Item& item);

  // Did the user end the run? The program is interrupted() then.
  bool was_ended() const { return was_ended_; }

 private:
  struct Request;

  void answer();  // lets the waiting show() return

  std::atomic<Request*> request_ = nullptr;  // of the show() that waits
  std::binary_semaphore answered_{0};
  bool was_ended_ = false;
};

}  // namespace facesat::app
