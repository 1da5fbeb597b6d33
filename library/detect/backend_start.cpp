#include "library/detect/backend_start.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace facesat {
namespace {

std::atomic<int> under_way = 0;

}  // namespace

struct BackendStart::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_wanted = false, is_abandoned = false;
  std::size_t images = 0;
  std::optional<Backends> backends;
  std::atomic<bool> is_chosen = false;
  Announce announce;

  void set(Backends chosen) {
    {
      const std::scoped_lock lock(mutex);
      backends.emplace(std::move(chosen));
      if (announce) announce(backends->remark());
      is_chosen = true;
    }
    changed.notify_all();
  }

  // Returns whether the choice shall be made.
  bool pass(const Delay& delay) {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    const auto is_over = [this] { return is_wanted || is_abandoned; };
    if (!changed.wait_until(lock, begin + delay.least, is_over))
      changed.wait_until(lock, begin + delay.most,
                         [&] { return is_over() || images > delay.images; });
    return !is_abandoned;
  }
};

BackendStart::BackendStart(const Choose& choose) : state_(std::make_shared<State>()) {
  state_->set(choose());
}

BackendStart::BackendStart(Choose choose, const Delay& delay) : state_(std::make_shared<State>()) {
  std::thread([state = state_, choose = std::move(choose), delay] {
    if (!state->pass(delay)) return;
    ++under_way;
    try {
      state->set(choose());
    } catch (const std::exception& error) {
      state->set(Backends(BackendChoice::automatic, {},
                          std::string("detecting on the CPU: ") + error.what()));
    }
    --under_way;
  }).detach();
}

BackendStart::~BackendStart() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->announce = nullptr;
    state_->is_abandoned = true;
  }
  state_->changed.notify_all();
}

void BackendStart::count_image() {
  if (state_->is_chosen) return;
  {
    const std::scoped_lock lock(state_->mutex);
    ++state_->images;
  }
  state_->changed.notify_all();
}

void BackendStart::announce_to(Announce announce) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->backends)
    announce(state_->backends->remark());
  else
    state_->announce = std::move(announce);
}

const Backends* BackendStart::chosen() const {
  return state_->is_chosen ? &*state_->backends : nullptr;
}

const Backends& BackendStart::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->is_wanted = true;
  state_->changed.notify_all();
  state_->changed.wait(lock, [this] { return state_->is_chosen.load(); });
  return *state_->backends;
}

bool BackendStart::is_any_under_way() {
  return under_way > 0;
}

}  // namespace facesat
