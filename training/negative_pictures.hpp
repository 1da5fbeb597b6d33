// The pictures in which training looks for false alarms, wherever they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "core/stop.hpp"

namespace facesat::training {

// In pixels of the picture, turned upright by its EXIF orientation. Annotations may have fractions.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Box&) const = default;
};

class NegativePictures {
 public:
  virtual ~NegativePictures() = default;

  virtual std::size_t count() const = 0;
  virtual std::string name(std::size_t picture) const = 0;
  // What is not to be learnt as background.
  virtual std::vector<Box> objects(std::size_t picture) const = 0;
  // Frames of videos are quick to read in their order only.
  virtual bool is_frame(std::size_t) const { return false; }
  // The same for the same pictures in the same order.
  virtual std::uint64_t checksum() const = 0;
  // Sentences about what cannot be read, each with a name.
  virtual std::vector<std::string> warnings() const { return {}; }

  struct Gray {
    std::shared_ptr<const Image<std::uint8_t>> picture;  // null: it cannot be read
    std::string warning{};  // a sentence, if the picture is incomplete, damaged or cannot be read
  };
  // Nullopt for a frame past the end of a video that is shorter than it states. Any number of
  // threads may call this. Throws MemoryError, Stopped.
  virtual std::optional<Gray> read(std::size_t picture, const ShouldStop& should_stop) = 0;
};

}  // namespace facesat::training
