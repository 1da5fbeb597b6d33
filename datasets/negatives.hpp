// The pictures in which training looks for false alarms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/stop.hpp"
#include "datasets/annotations.hpp"
#include "media/frame_source.hpp"
#include "results/inputs.hpp"

namespace facesat::training {

struct NegativeSources {
  // Files, folders, "@FILE" and archives, as `facesat detect` takes them; of videos, single frames.
  // A file that is neither picture, video nor archive is a list as the old trainer's bg.txt: a path
  // in each line, relative to the list's folder, or else to the working directory; lines that begin
  // with # count for nothing.
  std::vector<std::string> inputs;
  bool recursive = false;
  // Pictures that are used outside their objects, ignored ones included.
  Annotations annotated{};
  FrameChoice frames{};  // of videos; if no choice is made, one per second
  std::size_t max_pixels = default_max_pixels;
  // Grey pictures are kept while they take no more than this; the others are decoded each time.
  std::uint64_t kept_bytes = std::uint64_t{1} << 30;
};

// Sources of what a user gives as negatives: those that have annotations (see has_annotations) are
// annotated pictures, whose names begin at `root`, or else at the annotations' folder. Throws
// UsageError.
NegativeSources sources_of(const std::vector<std::string>& inputs,
                           const std::filesystem::path& root = {});

class Negatives final : public NegativePictures {
 public:
  // Finds the pictures, without reading them, and the lengths of videos. First come those of the
  // inputs, then the annotated ones. Throws UsageError if there are none, or a list cannot be read.
  explicit Negatives(NegativeSources sources);
  ~Negatives() override;
  Negatives(const Negatives&) = delete;
  Negatives& operator=(const Negatives&) = delete;

  std::size_t count() const override { return pictures_.size(); }
  std::string name(std::size_t picture) const override;
  std::vector<Box> objects(std::size_t picture) const override;
  bool is_frame(std::size_t picture) const override;
  // Of the names.
  std::uint64_t checksum() const override;
  // Of folders, lists and videos.
  std::vector<std::string> warnings() const override { return warnings_; }
  // Decodes a picture. Frames of a video take turns; the first that a video lacks has the warning.
  std::optional<Gray> read(std::size_t picture, const ShouldStop& should_stop) override;

 private:
  struct Video;
  struct Picture {
    Input input;                   // of a frame: empty
    std::size_t video = none;      // index into videos_
    std::size_t frame = 0;         // among those that are chosen
    std::size_t annotated = none;  // index into sources_.annotated.pictures
    std::shared_ptr<const Image<std::uint8_t>> kept{};
  };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void add_inputs(std::vector<std::string> inputs);
  void add_video(Input input);
  std::vector<std::string> with_lists_replaced() const;
  std::optional<Gray> decode(const Picture& picture, const ShouldStop& should_stop);
  std::optional<Gray> decode_frame(const Picture& picture);

  NegativeSources sources_;
  std::vector<Picture> pictures_;
  std::vector<std::unique_ptr<Video>> videos_;
  std::vector<std::string> warnings_;
  std::mutex mutex_;  // guards Picture::kept and kept_bytes_
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace facesat::training
