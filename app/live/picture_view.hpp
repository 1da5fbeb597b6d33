// The picture with its boxes, to zoom and pan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/live/detection.hpp"

namespace facesat::app {

// The colour of a cascade's boxes.
ImU32 box_colour(std::size_t cascade);

class PictureView {
 public:
  PictureView() = default;
  ~PictureView();
  PictureView(const PictureView&) = delete;
  PictureView& operator=(const PictureView&) = delete;

  // Shows this from now on, stretched to the size of the frame, which boxes refer to. What is too
  // large for a texture is shown in a smaller copy.
  void set(View<const Bgr> pixels, Size frame);
  // Draws into the rest of the current ImGui window.
  void draw(const std::vector<FoundFace>& faces, bool labels);

  void fit() { zoom_ = 0; }
  void one_to_one() { zoom_ = 1; }

 private:
  void handle_mouse(ImVec2 corner, ImVec2 space);

  void upload(View<const Bgr> pixels);

  unsigned texture_ = 0;
  int largest_side_ = 0;  // of a texture
  Size texture_size_, size_;
  ImVec2 filled_{1, 1};  // the part of the texture that the picture fills: edges of copies jut out
  float zoom_ = 0;       // screen pixels a picture pixel; 0: as large as fits
  ImVec2 centre_{0.5f, 0.5f};  // of the view, as a part of the picture
};

}  // namespace facesat::app
