// What the user of the window chooses about detection.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/live/detection/filter_view.hpp"
#include "app/live/detection/inspection.hpp"
#include "facesat.hpp"

namespace facesat::app {

// A face that the user does not want: a cascade's in a picture, or in a frame of a video.
struct RejectedFace {
  std::string picture;    // CapturedFrame::origin
  std::size_t index = 0;  // CapturedFrame::index
  std::string cascade;
  Rect box;

  bool operator==(const RejectedFace&) const = default;
};

struct LiveSettings {
  BackendOptions backend;
  std::vector<std::string> cascades;
  DetectOptions detect;
  // The names of cascades by the number of their colour. A cascade keeps its colour as long as it
  // is chosen, whichever others are; only then is its number free for another one.
  std::vector<std::string> colours;
  std::vector<RejectedFace> rejected;
  Inspection inspection;  // what is shown instead of the frame
  FilterChoice filter;    // if that is a filtered image
  bool kernels = false;   // measure the kernels within each step, too

  bool operator==(const LiveSettings&) const = default;

  bool has(const std::string& cascade) const;
  void choose(const std::string& cascade);    // adds it, unless it is chosen already
  void unchoose(const std::string& cascade);  // also as the one that others search inside of
  // For a cascade that is chosen.
  std::size_t colour_of(const std::string& cascade) const;
  // The index of the chosen cascade that has this colour.
  std::size_t cascade_of_colour(std::size_t colour) const;

 private:
  void give_colour(const std::string& cascade);  // unless it has one
};

}  // namespace facesat::app
