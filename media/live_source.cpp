#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "media/frame_source.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

namespace facesat {
namespace {

std::atomic<int> threads = 0;

// What the thread and its owner share. The thread may outlive the owner.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_ptr<FrameSource> source;  // once it is open; used by the thread alone
  std::optional<Frame> frame;           // the newest one, until it is taken
  bool has_ended = false;               // there are no more frames
  bool is_abandoned = false;            // by the owner
  std::exception_ptr failure;
};

// Returns false when there will be no more frames.
bool read_frame(Shared& shared, std::size_t max_pixels) {
  std::optional<Frame> frame = shared.source->next();
  if (frame) check_size(frame->picture.size(), {.max_pixels = max_pixels});
  std::unique_lock lock(shared.mutex);
  const bool is_video = shared.source->kind() == FrameSource::Kind::video;
  shared.changed.wait(lock, [&] { return shared.is_abandoned || !is_video || !shared.frame; });
  if (!frame || shared.is_abandoned) return false;
  shared.frame = std::move(frame);
  shared.changed.notify_all();
  return true;
}

void read_all(Shared& shared, const std::string& name, const FrameChoice& choice,
              std::size_t max_pixels) {
  try {
    std::unique_ptr<FrameSource> source = open_source(name);
    source->choose(choice);
    {
      const std::scoped_lock lock(shared.mutex);
      shared.source = std::move(source);
      shared.changed.notify_all();
    }
    while (read_frame(shared, max_pixels)) {
    }
  } catch (...) {
    const std::scoped_lock lock(shared.mutex);
    shared.failure = std::current_exception();
  }
  const std::scoped_lock lock(shared.mutex);
  shared.has_ended = true;
  shared.changed.notify_all();
}

class LiveSource final : public FrameSource {
 public:
  LiveSource(std::string name, const FrameChoice& choice, std::size_t max_pixels) {
    ++threads;
    std::thread([shared = shared_, name = std::move(name), choice, max_pixels]() mutable {
      read_all(*shared, name, choice, max_pixels);
      shared.reset();
      --threads;
    }).detach();
  }

  // A source that is alive ends with its next frame, and is closed. For one that does not answer,
  // OpenCV waits half a minute: it is left to its thread.
  ~LiveSource() override {
    std::unique_lock lock(shared_->mutex);
    shared_->is_abandoned = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, std::chrono::seconds(1), [this] { return shared_->has_ended; });
  }

  // Waits until it is open. False: the program was interrupted. Throws InputError.
  bool is_opened() {
    return wait([this] { return shared_->source != nullptr; });
  }

  Kind kind() const override { return shared_->source->kind(); }
  std::string title() const override { return shared_->source->title(); }
  std::string warning() const override { return shared_->source->warning(); }  // after the end

  std::optional<Frame> next() override {
    if (!wait([this] { return shared_->frame.has_value(); })) return std::nullopt;
    const std::scoped_lock lock(shared_->mutex);
    shared_->changed.notify_all();
    return std::exchange(shared_->frame, std::nullopt);
  }

 private:
  // Waits until something is there. False: it ended without, or the program was interrupted.
  template <class IsThere>
  bool wait(IsThere is_there) {
    constexpr std::chrono::milliseconds pause{50};  // signals wake up nobody
    std::unique_lock lock(shared_->mutex);
    while (!is_there() && !shared_->has_ended && !interrupted())
      shared_->changed.wait_for(lock, pause);
    if (interrupted()) return false;
    if (!is_there() && shared_->failure) std::rethrow_exception(shared_->failure);
    return is_there();
  }

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace

std::unique_ptr<FrameSource> open_live(const std::string& name, const FrameChoice& choice,
                                       std::size_t max_pixels) {
  auto source = std::make_unique<LiveSource>(name, choice, max_pixels);
  return source->is_opened() ? std::move(source) : nullptr;
}

bool is_live_source_open() {
  return threads > 0;
}

}  // namespace facesat
