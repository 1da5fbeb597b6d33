// What the window draws over and below the picture: the boxes of its faces, the faces side by side,
// and the bar with play, pause, step, position, speed, loop and where faces were found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/live/frames/capture.hpp"
#include "app/live/gui/picture_view.hpp"
#include "results/results.hpp"

namespace facesat::app {

// The colour of a cascade's boxes. `cascade`: its index, as in Face.
ImU32 box_colour(std::size_t cascade);

// Rounded to this many decimals; zero has no sign.
std::string score_text(double score, int decimals);

struct OverlayOptions {
  bool labels = true;                      // neighbours and score, where there is room for them
  std::optional<std::size_t> highlighted;  // index of a face whose box stands out, with its label
  bool follows_pointer = true;             // so does that of the face under it
  std::string hint{};                      // after the label of that face
};

// Draws a ground on which text is readable over any picture, in either theme.
void draw_ground(ImVec2 first, ImVec2 last);

// Draws boxes over the picture, which must have been drawn last. Returns the index of the smallest
// face under the pointer.
std::optional<std::size_t> draw_boxes(const PictureView& view, const std::vector<Face>& faces,
                                      const OverlayOptions& options);

// The smallest face around a point of the picture, as an index.
std::optional<std::size_t> face_at(ImVec2 point, const std::vector<Face>& faces);

// The height of the strip in pixels.
float face_strip_height();

// What the user points at and clicks, as indices of faces.
struct PointedFace {
  std::optional<std::size_t> pointed, clicked;
};

// Draws over the whole width of the current window. `highlighted`: a face that stands out.
PointedFace draw_face_strip(const Texture& frame, const std::vector<Face>& faces,
                            std::optional<std::size_t> highlighted);

// Where in a video, or in a list of pictures, faces were found so far.
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

// The height of the bar in pixels if it is drawn over the whole width of the current window: a row
// more where there is a position to choose, and one more in a narrow window.
float player_bar_height(const Capture::State& state);

// The buttons at the right end of the bar.
enum class Tool : std::uint8_t { grid, compare, screenshot, record, theme, help };

// Draws over the whole width of the current window. `marks`: of the video, or of the list if that
// has pictures. Returns the tool whose button was pressed.
std::optional<Tool> draw_player_bar(Capture& capture, const Capture::State& state,
                                    const FaceMarks& marks, bool is_recording, bool compares);

// Minutes, seconds and hundredths, after hours if there are any: "1:03.20".
std::string clock_time(double seconds);

}  // namespace facesat::app
