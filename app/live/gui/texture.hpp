// Pixels in an OpenGL texture.
#pragma once

#include <imgui.h>

#include "core/image.hpp"

namespace facesat::app {

// To be used only by the thread that has the OpenGL context.
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

}  // namespace facesat::app
