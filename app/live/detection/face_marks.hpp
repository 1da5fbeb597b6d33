// Where in a video, or in a list of pictures, faces were found so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace facesat::app {

class FaceMarks {
 public:
  enum class Mark : std::uint8_t { unknown, none, faces };
  static constexpr std::size_t most = 2000;  // marks; longer videos and lists share them

  // What the marks are of: they are forgotten when it changes.
  struct Subject {
    std::uint64_t source = 0, settings = 0;  // counted as they change
    std::size_t count = 0;                   // of its frames or pictures

    bool operator==(const Subject&) const = default;
  };

  // The frame or picture with this index was shown, with or without faces.
  void add(const Subject& subject, std::size_t index, bool has_faces);

  // From the first to the last, evenly spaced.
  const std::vector<Mark>& marks() const { return marks_; }

 private:
  Subject subject_;
  std::vector<Mark> marks_;
};

}  // namespace facesat::app
