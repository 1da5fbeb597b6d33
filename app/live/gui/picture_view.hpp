// Pictures in the window: smaller copies of those too large for a texture, textures, and the view
// with zoom and pan.
#pragma once

#include <optional>

#include <imgui.h>

#include "core/image.hpp"

namespace facesat::app {

// The smallest integer factor by which a picture must shrink so that no side exceeds `limit`.
int shrink_factor(Size size, int limit);

// Each pixel is the mean of factor x factor pixels; at the right and lower edges, of those that
// exist.
Image<Bgr> shrink(View<const Bgr> picture, int factor);

// Pixels in an OpenGL texture. To be used only by the thread that has the OpenGL context.
class Texture {
 public:
  Texture() = default;
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;

  // Copies the pixels. A picture too large for a texture is held as a smaller copy.
  void set(View<const Bgr> pixels);
  bool is_set() const { return size_.width > 0; }
  Size size() const { return size_; }  // of the picture

  // Draws a part of the picture, in pixels, into the rectangle between two corners of the screen.
  // `opacity`: from 0 to 1.
  void draw(ImDrawList& list, Rect part, ImVec2 first, ImVec2 last, float opacity = 1) const;
  void draw(ImDrawList& list, ImVec2 first, ImVec2 last, float opacity = 1) const;

 private:
  void upload(View<const Bgr> pixels);

  unsigned name_ = 0;
  int largest_side_ = 0;  // of a texture
  Size size_, texture_size_;
  int factor_ = 1;  // picture pixels per texture pixel
};

// The picture, with zoom and pan.
class PictureView {
 public:
  // Shows this frame from now on.
  void set(View<const Bgr> frame);
  // Shows these pixels over the frame, stretched to its size.
  void set(View<const Bgr> frame, View<const Bgr> over);
  // Shows these pixels in place of the frame, in their own size.
  void set_apart(View<const Bgr> frame, View<const Bgr> instead);

  // Shows nothing.
  void clear() { size_ = {}; }

  // Keeps this frame; compare(true) shows it at the left of a line that the pointer can move.
  void pin(View<const Bgr> frame);
  void compare(bool compares) { compares_ = compares; }
  // Where the line is on the screen, from left to right, in the view drawn last.
  float line() const { return corner_.x + line_ * space_.x; }

  // Of pixels that are shown over a frame: 0 shows the frame alone, 1 the pixels alone.
  void set_opacity(float opacity) { opacity_ = opacity; }

  // Draws into the remaining space of the current ImGui window, and handles the mouse there.
  // Returns false if there is no picture or no space.
  bool draw();

  // Of the picture drawn last: where a point of it is on the screen. Pixel (x, y) reaches from (x,
  // y) to (x + 1, y + 1).
  ImVec2 at(double x, double y) const;
  float zoom() const { return drawn_zoom_; }  // screen pixels per picture pixel
  Size size() const { return size_; }         // of the picture
  // Where the view, of which the picture may fill a part, is on the screen.
  ImVec2 corner() const { return corner_; }
  ImVec2 space() const { return space_; }
  // The point of the picture under the pointer, if that is over the picture and nothing else.
  std::optional<ImVec2> pointed() const { return pointed_; }
  // Where the picture was clicked, and not dragged, once it is certain that no second click
  // follows.
  std::optional<ImVec2> clicked_once() const { return clicked_once_; }
  // The box that is being drawn with the pointer while Shift is held, in pixels of the picture; and
  // the same once, when it is done: without a width if Shift was held for a click. The other way
  // round, if draw_boxes(true) was called: with Shift, the picture moves.
  std::optional<Rect> marking() const;
  std::optional<Rect> marked() const { return marked_; }
  void draw_boxes(bool on) { draws_boxes_ = on; }
  bool draws_boxes() const { return draws_boxes_; }
  const Texture& frame() const { return frame_; }

  void fit() { zoom_ = 0; }
  void one_to_one() { zoom_ = 1; }
  // Shows this part of the picture, in pixels, with what is around it.
  void zoom_to(const Rect& part);

 private:
  void handle_mouse();
  void handle_line();
  void handle_mark();
  void note_clicks(bool is_clicked);
  void place();

  Texture frame_, other_, pinned_;
  bool shows_frame_ = true, shows_other_ = false, compares_ = false;
  float line_ = 0.5f;  // between pinned_ and the rest, as a fraction of the view
  bool moves_line_ = false;
  float opacity_ = 1;  // of other_
  Size size_;
  float zoom_ = 0;             // screen pixels per picture pixel; 0: as large as fits
  ImVec2 centre_{0.5f, 0.5f};  // of the view, as a fraction of the picture
  std::optional<ImVec2> mark_begin_, mark_end_;  // of the box that is being drawn
  bool is_marking_ = false;                      // since the button was pressed
  bool draws_boxes_ = false;                     // without Shift
  // Of the last draw():
  ImVec2 corner_, space_, origin_;
  float drawn_zoom_ = 1;
  std::optional<ImVec2> pointed_;
  std::optional<Rect> marked_;
  std::optional<ImVec2> first_click_, clicked_once_;  // first: a second click may follow
};

}  // namespace facesat::app
