// The picture with its boxes, with zoom and pan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <imgui.h>

#include "app/live/detection.hpp"

namespace facesat::app {

// The colour of a cascade's boxes. `cascade`: its index, as in FoundFace.
ImU32 box_colour(std::size_t cascade);

class PictureView {
 public:
  PictureView() = default;
  ~PictureView();
  PictureView(const PictureView&) = delete;
  PictureView& operator=(const PictureView&) = delete;

  // Shows these pixels from now on, stretched to the size of the frame, to which the boxes refer.
  // Pictures too large for a texture are shown as a smaller copy.
  void set(View<const Bgr> pixels, Size frame);
  // Draws into the remaining space of the current ImGui window.
  void draw(const std::vector<FoundFace>& faces, bool labels);

  void fit() { zoom_ = 0; }
  void one_to_one() { zoom_ = 1; }

 private:
  void handle_mouse(ImVec2 corner, ImVec2 space);

  void upload(View<const Bgr> pixels);

  unsigned texture_ = 0;
  int largest_side_ = 0;  // of a texture
  Size texture_size_, size_;
  ImVec2 filled_{1, 1};  // the part of the texture that the picture fills: 1 unless it was shrunk
  float zoom_ = 0;       // screen pixels per picture pixel; 0: as large as fits
  ImVec2 centre_{0.5f, 0.5f};  // of the view, as a fraction of the picture
};

}  // namespace facesat::app
