// The choice of backends, which may take place in the background: a CUDA device takes seconds to
// start.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "library/detect/backends.hpp"

namespace facesat {

class BackendStart {
 public:
  using Choose = std::function<Backends()>;
  using Announce = std::function<void(const std::string& sentence)>;

  // When to begin: after `least`, once more than `images` images have come, or `most` has passed.
  struct Delay {
    std::chrono::milliseconds least, most;
    std::size_t images;
  };

  // Chooses at once; throws what `choose` throws.
  explicit BackendStart(const Choose& choose);
  // Chooses in a thread of its own, after this delay or as soon as somebody waits: work that is
  // done by then needs no device. If `choose` throws, the CPU is chosen, and its remark is the
  // error's message.
  BackendStart(Choose choose, const Delay& delay);
  // Does not wait for the choice; nothing is announced any more, and a choice that has not begun is
  // not made.
  ~BackendStart();
  BackendStart(const BackendStart&) = delete;
  BackendStart& operator=(const BackendStart&) = delete;

  // An image has come.
  void count_image();

  // Calls the function with the remark of the backends: now, or by the other thread once they are
  // chosen.
  void announce_to(Announce announce);

  // Null as long as the choice is under way.
  const Backends* chosen() const;
  // Waits for the choice.
  const Backends& wait() const;

  // Is a choice under way in this process, even one whose object is gone? Then the process must not
  // end with exit(), because a library may be loading.
  static bool is_any_under_way();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace facesat
