#include "library/detect/backend_start.hpp"

#include <atomic>
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
    is_chosen.notify_all();
  }
};

BackendStart::BackendStart(Choose choose, bool in_background) : state_(std::make_shared<State>()) {
  if (!in_background) {
    state_->set(choose());
    return;
  }
  ++under_way;
  std::thread([state = state_, choose = std::move(choose)] {
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
  const std::scoped_lock lock(state_->mutex);
  state_->announce = nullptr;
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
  state_->is_chosen.wait(false);
  return *state_->backends;
}

bool BackendStart::is_any_under_way() {
  return under_way > 0;
}

}  // namespace facesat
