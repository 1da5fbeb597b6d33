#include "datasets/backgrounds.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include "datasets/negatives.hpp"
#include "support/errors.hpp"
#include "training/distortion.hpp"
#include "training/shuffle.hpp"

namespace facesat::training {
namespace {

NegativeSources sources_of(const std::vector<std::string>& inputs) {
  NegativeSources sources;
  sources.inputs = inputs;
  sources.recursive = true;
  sources.kept_bytes = 0;  // each picture is read once
  return sources;
}

std::vector<std::size_t> numbers_below(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  return numbers;
}

class Backgrounds {
 public:
  Backgrounds(std::size_t count, Size window, const std::vector<std::string>& sources,
              std::uint64_t seed, Sentences& sentences)
      : window_(window),
        seed_(seed),
        sentences_(sentences),
        pictures_(sources_of(sources)),
        usable_(numbers_below(pictures_.count())),
        open_(numbers_below(count)),
        parts_(count) {
    sentences_.add(pictures_.warnings());
    while (!open_.empty()) fill();
  }

  std::vector<Image<std::uint8_t>> take() { return std::move(parts_); }

 private:
  // Tries a usable picture for each open part.
  void fill() {
    if (usable_.empty()) throw UsageError(fmt::format("no background can be used: {}", failure_));
    std::vector<std::vector<std::size_t>> parts(usable_.size());  // of each picture
    for (const std::size_t part : open_)
      parts[mixed(seed_ ^ mixed(part)) % usable_.size()].push_back(part);
    std::vector<std::string> failures(usable_.size());
    tbb::parallel_for(std::size_t{0}, usable_.size(), [&](std::size_t i) {
      if (!parts[i].empty()) failures[i] = cut(usable_[i], parts[i]);
    });
    open_.clear();
    std::vector<std::size_t> still_usable;
    for (std::size_t i = 0; i < usable_.size(); ++i) {
      if (failures[i].empty()) {
        still_usable.push_back(usable_[i]);
        continue;
      }
      failure_ = fmt::format("{}: {}", pictures_.name(usable_[i]), failures[i]);
      sentences_.add(failure_);
      open_.insert(open_.end(), parts[i].begin(), parts[i].end());
    }
    usable_ = std::move(still_usable);
  }

  // Returns why the picture cannot be used; empty if it can.
  std::string cut(std::size_t picture, const std::vector<std::size_t>& parts) {
    const auto gray = pictures_.read(picture, nullptr);
    if (!gray) return "the video ends before this frame";
    if (!gray->picture) return gray->warning;
    const auto [width, height] = gray->picture->size();
    if (width < window_.width || height < window_.height)
      return fmt::format("as a background, {}x{} pixels are too few", width, height);
    for (const std::size_t part : parts) {
      Random random({seed_, part});
      parts_[part] = random_part(gray->picture->view(), window_, random);
    }
    return "";
  }

  const Size window_;
  const std::uint64_t seed_;
  Sentences& sentences_;
  Negatives pictures_;
  std::vector<std::size_t> usable_;  // pictures that have not failed
  std::vector<std::size_t> open_;    // parts that are still to be cut out
  std::string failure_;              // the last one
  std::vector<Image<std::uint8_t>> parts_;
};

}  // namespace

std::vector<Image<std::uint8_t>> random_backgrounds(std::size_t count, Size window,
                                                    const std::vector<std::string>& sources,
                                                    std::uint64_t seed, Sentences& sentences) {
  return Backgrounds(count, window, sources, seed, sentences).take();
}

}  // namespace facesat::training
