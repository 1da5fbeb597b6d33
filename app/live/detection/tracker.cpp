#include "app/live/detection/tracker.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/cpu/gray.hpp"
#include "kernels/filter/integral_histogram.hpp"

namespace facesat::app {
namespace {

// The grey image of a part of the frame.
View<const std::uint8_t> gray_of(const CapturedFrame& frame, const Rect& part,
                                 Image<std::uint8_t>& gray) {
  gray.resize({part.width, part.height});
  cpu::to_gray(frame.picture.pixels.sub(part), gray.view());
  return gray.view();
}

}  // namespace

MarkedObject mark(const CapturedFrame& frame, const Rect& box) {
  Image<std::uint8_t> gray;
  return {box,
          histogram_of(gray_of(frame, box, gray), {0, 0, box.width, box.height}),
          frame.picture.pixels.size,
          frame.posted,
          frame.sequence,
          frame.source};
}

double Track::percent() const {
  return 100.0 * in_common(object, match) / static_cast<double>(Size{box.width, box.height}.area());
}

int reach_in(Size frame) {
  return std::clamp(std::max(frame.width, frame.height) / 30, 16, greatest_reach);
}

void Tracker::follow(std::optional<MarkedObject> object) {
  object_ = std::move(object);
  why_ended_.clear();
  if (!object_) return;
  track_ = {.box = object_->box, .object = object_->histogram, .match = object_->histogram};
  posted_ = object_->posted;
}

std::optional<Track> Tracker::find(const CapturedFrame& frame, std::optional<int> device) {
  if (!object_) return std::nullopt;
  why_ended_ = why_not_in(frame);
  if (!why_ended_.empty()) {
    object_.reset();
    return std::nullopt;
  }
  if (frame.posted == posted_) return track_;
  if (!search_ || device_ != device)
    search_ = device ? gpu::make_cuda_box_search(*device) : make_cpu_box_search();
  device_ = device;
  const auto begin = std::chrono::steady_clock::now();
  const int reach = reach_in(object_->frame);
  // In the grey image of all places alone, whose first pixel is at (region.x, region.y).
  const Rect region = places_of(track_.box, reach, object_->frame).region();
  const auto moved = [](Rect box, int x, int y) {
    return Rect{box.x + x, box.y + y, box.width, box.height};
  };
  const View<const std::uint8_t> gray = gray_of(frame, region, gray_);
  const Rect found =
      search_->find(gray, object_->histogram, moved(track_.box, -region.x, -region.y), reach).box;
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  track_ = {.box = moved(found, region.x, region.y),
            .object = object_->histogram,
            .match = histogram_of(gray, found),
            .ms = time.count()};
  posted_ = frame.posted;
  return track_;
}

std::string Tracker::why_not_in(const CapturedFrame& frame) const {
  const std::string ended = "the object is no longer followed: ";
  if (frame.source != object_->source) return ended + "another source is shown";
  if (frame.picture.pixels.size != object_->frame) return ended + "the frames have another size";
  if (frame.sequence != object_->sequence)
    return ended + "the video went to another position, began again or was turned";
  return "";
}

}  // namespace facesat::app
