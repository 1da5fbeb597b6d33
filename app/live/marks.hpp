// Objects that the user has marked in pictures and frames, for `facesat train` to learn from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/image.hpp"

namespace facesat::app {

// A folder with the pictures, as they were seen, and the boxes in objects.info.dat. Every change is
// written at once, to what the file has by then: two windows may mark in one folder. A picture is
// known again by its pixels, wherever they come from, so that marking can go on another day.
class Marks {
 public:
  using Boxes = std::vector<Rect>;

  // Of a folder that has marks, or has none yet. Throws UsageError if it is not there or cannot be
  // read.
  explicit Marks(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path annotations() const { return folder_ / "objects.info.dat"; }
  // The name that a picture has in the folder. Takes as long as reading all of its pixels.
  static std::string name_of(View<const Bgr> picture);

  // The boxes of a picture: nothing if it has not been marked, none if it has no objects.
  std::optional<Boxes> find(const std::string& name) const;
  // Throw OutputError, and UsageError if the folder is gone or its file was damaged.
  void set(const std::string& name, View<const Bgr> picture, Boxes boxes);
  void remove(const std::string& name);

  std::size_t pictures() const { return marked_.size(); }
  std::size_t objects() const;
  // A window for objects of the boxes' mean aspect ratio, of about 24x24 pixels.
  Size window() const;

 private:
  void read();
  void write() const;

  std::filesystem::path folder_;
  std::map<std::string, Boxes> marked_;  // by the picture's name
};

}  // namespace facesat::app
