// Filters the grey image of a frame, to be shown in place of the frame: with one algorithm or, to
// compare their times, with two.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/live/detection/inspection.hpp"
#include "facesat.hpp"
#include "filters/picture_filter.hpp"

namespace facesat::app {

// What the user chooses.
struct FilterChoice {
  PictureFilterSettings filter;
  std::string compared;  // another algorithm, whose time is shown as well; empty: none

  bool operator==(const FilterChoice&) const = default;
};

// The largest radius that can be chosen for a filter; the smallest is 1.
int largest_radius(FilterKind kind);
// The offset of the threshold can be chosen from minus this to this.
inline constexpr int largest_offset = 50;

// One algorithm on one frame.
struct FilterRun {
  std::string algorithm;
  std::vector<FilterTime> times;  // of its steps; those of the same name are added up

  double compute_ms() const;  // all steps but the transfers to and from a GPU
};

struct FilterResult {
  std::vector<std::string> algorithms;  // that exist for this filter and radius
  std::vector<std::string> too_slow;    // those that exist for smaller radii only
  FilterRun shown;                      // the one that made the picture
  std::optional<FilterRun> compared;
  int difference = 0;  // between pixels of both pictures: the largest
};

// Belongs to one thread at a time.
class FilterView {
 public:
  explicit FilterView(std::unique_ptr<PictureFilter> filter) : filter_(std::move(filter)) {}

  // Takes a frame. What is filtered is the grey image that detection sees.
  void load(View<const Bgr> frame, bool equalize);
  // Filters the frame loaded last, with the first algorithm in place of one that does not exist for
  // this radius. The second algorithm does not run if it does not exist or is the same. Throws as
  // PictureFilter::apply().
  FilterResult run(const FilterChoice& choice);
  // The result of the last run.
  InspectedPicture picture() const;

 private:
  FilterRun apply(const PictureFilterSettings& settings, Image<std::uint8_t>& result);

  std::unique_ptr<PictureFilter> filter_;
  Image<std::uint8_t> gray_, result_, compared_;
};

// The filter of the frames that are shown: a FilterView where faces are detected, made when it is
// needed. Belongs to one thread at a time.
class FrameFilter {
 public:
  // For the next frames; is_on: their filtered image is shown; machine: where faces are detected.
  void use(const FilterChoice& choice, bool is_on, const BackendOptions& machine);
  // Counts the changes of the filter, also to none.
  std::uint64_t changes() const { return changes_; }

  bool is_on() const { return is_on_; }
  // Filters the grey image that detection sees of this frame. device: the number of the device;
  // nullopt: the CPU. Throws as PictureFilter::apply().
  FilterResult run(View<const Bgr> frame, bool equalize, std::optional<int> device);
  // The same frame again; nullopt: there is none.
  std::optional<FilterResult> run_again();
  // The result of the last run.
  InspectedPicture picture() const { return view_->picture(); }

 private:
  std::optional<FilterView> view_;
  std::optional<FilterChoice> choice_;  // nullopt: use() was not called yet
  BackendOptions machine_;
  bool is_on_ = false;
  std::uint64_t changes_ = 0;
};

}  // namespace facesat::app
