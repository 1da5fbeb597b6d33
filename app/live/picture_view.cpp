#include "app/live/picture_view.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <glad/gl.h>

#include "app/live/shrink.hpp"
#include "library/io/annotate.hpp"

namespace facesat::app {

ImU32 box_colour(std::size_t cascade) {
  const Bgr colour = cascade_colour(cascade);
  return IM_COL32(colour.r, colour.g, colour.b, 255);
}

PictureView::~PictureView() {
  if (texture_ != 0) glDeleteTextures(1, &texture_);
}

void PictureView::set(View<const Bgr> pixels, Size frame) {
  size_ = frame;
  filled_ = {1, 1};
  if (largest_side_ == 0) glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest_side_);
  const int factor = shrink_factor(pixels.size, largest_side_);
  if (factor == 1) return upload(pixels);
  const Image<Bgr> copy = shrink(pixels, factor);
  const auto part = [factor](int of, int side) {
    return static_cast<float>(of) / static_cast<float>(factor * side);
  };
  filled_ = {part(pixels.size.width, copy.size().width),
             part(pixels.size.height, copy.size().height)};
  upload(copy.view());
}

// A texture of the same size is reused.
void PictureView::upload(View<const Bgr> pixels) {
  if (texture_ == 0) glGenTextures(1, &texture_);
  glBindTexture(GL_TEXTURE_2D, texture_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<int>(pixels.pitch));
  if (pixels.size != texture_size_) {
    texture_size_ = pixels.size;
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, pixels.size.width, pixels.size.height, 0, GL_BGR,
                 GL_UNSIGNED_BYTE, pixels.data);
  } else {
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, pixels.size.width, pixels.size.height, GL_BGR,
                    GL_UNSIGNED_BYTE, pixels.data);
  }
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
}

void PictureView::handle_mouse(ImVec2 corner, ImVec2 space) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemHovered() && !ImGui::IsItemActive()) return;
  const float fitting = std::min(space.x / static_cast<float>(size_.width),
                                 space.y / static_cast<float>(size_.height));
  const float now = zoom_ > 0 ? zoom_ : fitting;
  const ImVec2 pixels{now * static_cast<float>(size_.width),
                      now * static_cast<float>(size_.height)};
  if (io.MouseWheel != 0) {  // zoom around the pointer, by 20% per step of the wheel
    const float then = std::clamp(now * std::pow(1.2f, io.MouseWheel), fitting / 4, 40.0f);
    const ImVec2 off{io.MousePos.x - corner.x - space.x / 2,
                     io.MousePos.y - corner.y - space.y / 2};
    centre_.x += off.x / pixels.x * (1 - now / then);
    centre_.y += off.y / pixels.y * (1 - now / then);
    zoom_ = then;
  }
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    centre_.x -= io.MouseDelta.x / pixels.x;
    centre_.y -= io.MouseDelta.y / pixels.y;
    zoom_ = now;
  }
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    zoom_ = zoom_ > 0 ? 0 : 1;  // fit, or one to one
  }
}

void PictureView::draw(const std::vector<FoundFace>& faces, bool labels) {
  const ImVec2 corner = ImGui::GetCursorScreenPos(), space = ImGui::GetContentRegionAvail();
  if (size_.width == 0 || space.x < 1 || space.y < 1) return;
  ImGui::InvisibleButton("picture", space);
  handle_mouse(corner, space);
  const float fitting = std::min(space.x / static_cast<float>(size_.width),
                                 space.y / static_cast<float>(size_.height));
  const float zoom = zoom_ > 0 ? zoom_ : fitting;
  if (zoom_ == 0) centre_ = {0.5f, 0.5f};
  const ImVec2 origin{corner.x + space.x / 2 - centre_.x * zoom * static_cast<float>(size_.width),
                      corner.y + space.y / 2 - centre_.y * zoom * static_cast<float>(size_.height)};
  const auto at = [&](int x, int y) {
    return ImVec2{origin.x + zoom * static_cast<float>(x), origin.y + zoom * static_cast<float>(y)};
  };
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(corner, {corner.x + space.x, corner.y + space.y}, true);
  list->AddImage(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(texture_)), at(0, 0),
                 at(size_.width, size_.height), {0, 0}, filled_);
  for (const auto& [face, cascade] : faces) {
    const Rect& box = face.box;
    list->AddRect(at(box.x, box.y), at(box.x + box.width, box.y + box.height), box_colour(cascade),
                  0, 0, 2);
    if (!labels) continue;
    const std::string text = fmt::format("{} | {:.1f}", face.neighbors, face.score);
    ImVec2 place = at(box.x, box.y);
    place.y -= ImGui::GetTextLineHeight() + 1;
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    list->AddRectFilled(place, {place.x + extent.x + 4, place.y + extent.y},
                        IM_COL32(0, 0, 0, 160));
    list->AddText({place.x + 2, place.y}, box_colour(cascade), text.c_str());
  }
  list->PopClipRect();
}

}  // namespace facesat::app
