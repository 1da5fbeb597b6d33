#include "app/detect/workers.hpp"

#include <algorithm>

#include <tbb/task_arena.h>

#include "core/memory.hpp"

namespace facesat::app {
namespace {

// Detectors that have grown beyond this are not kept: making them again costs little beside such
// pictures, and idle ones would hold memory that the gate does not know of.
constexpr std::uint64_t kept_bytes = 64 << 20;

// What detection on a picture takes, roughly: decoded and grey pixels, the atlas and three tables.
std::uint64_t estimated_bytes(Size picture) {
  const std::uint64_t pixels = picture.area();
  const std::uint64_t atlas =
      std::max<std::uint64_t>(pixels, std::min<std::uint64_t>(6 * pixels, 16 << 20));
  return 4 * pixels + 13 * atlas;
}

}  // namespace

MemoryGate::Pass::Pass(MemoryGate& gate, std::uint64_t bytes)
    : gate_(gate), bytes_(std::min(bytes, gate.budget_)) {
  std::unique_lock lock(gate_.mutex_);
  gate_.freed_.wait(lock, [this] { return gate_.used_ + bytes_ <= gate_.budget_; });
  gate_.used_ += bytes_;
}

MemoryGate::Pass::~Pass() {
  {
    const std::scoped_lock lock(gate_.mutex_);
    gate_.used_ -= bytes_;
  }
  gate_.freed_.notify_all();
}

Workers::Workers(std::vector<std::shared_ptr<const Cascade>> cascades, const DetectOptions& options)
    : cascades_(std::move(cascades)), options_(options), gate_(available_memory() / 2) {}

std::vector<FoundFace> Workers::detect(View<const Bgr> picture) {
  const std::uint64_t bytes = estimated_bytes(picture.size);
  const MemoryGate::Pass pass(gate_, bytes);
  std::unique_ptr<Detectors> detectors = borrow();
  std::vector<FoundFace> found;
  // Isolated: a thread that waits for its part of this picture must not begin another picture,
  // which could wait for the memory that this one holds.
  tbb::this_task_arena::isolate([&] {
    for (std::size_t i = 0; i < detectors->size(); ++i)
      for (const Face& face : (*detectors)[i].detect(picture)) found.push_back({face, i});
  });
  if (bytes <= kept_bytes) give_back(std::move(detectors));
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundFace& a, const FoundFace& b) { return a.face.box < b.face.box; });
  return found;
}

std::unique_ptr<Workers::Detectors> Workers::borrow() {
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto detectors = std::move(idle_.back());
      idle_.pop_back();
      return detectors;
    }
  }
  auto detectors = std::make_unique<Detectors>();
  for (const auto& cascade : cascades_)
    detectors->emplace_back(cascade, options_, make_cpu_backend());
  return detectors;
}

void Workers::give_back(std::unique_ptr<Detectors> detectors) {
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(detectors));
}

}  // namespace facesat::app
