#include "app/live/gui/picture_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <glad/gl.h>

namespace facesat::app {
namespace {

// The mean colour of a block, rounded to the nearest value in each channel.
Bgr mean(View<const Bgr> block) {
  unsigned b = 0, g = 0, r = 0;
  for (int y = 0; y < block.size.height; ++y)
    for (int x = 0; x < block.size.width; ++x) {
      const Bgr pixel = block.row(y)[x];
      b += pixel.b, g += pixel.g, r += pixel.r;
    }
  const auto count = static_cast<unsigned>(block.size.area());
  const auto rounded = [count](unsigned sum) {
    return static_cast<std::uint8_t>((sum + count / 2) / count);
  };
  return {rounded(b), rounded(g), rounded(r)};
}

}  // namespace

int shrink_factor(Size size, int limit) {
  return std::max(1, divide_up(std::max(size.width, size.height), std::max(1, limit)));
}

Image<Bgr> shrink(View<const Bgr> picture, int factor) {
  const Size full = picture.size;
  Image<Bgr> image({divide_up(full.width, factor), divide_up(full.height, factor)});
  for (int y = 0; y < image.size().height; ++y)
    for (int x = 0; x < image.size().width; ++x) {
      const int left = x * factor, top = y * factor;
      image.row(y)[x] = mean(picture.sub(
          {left, top, std::min(factor, full.width - left), std::min(factor, full.height - top)}));
    }
  return image;
}

Texture::~Texture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void Texture::set(View<const Bgr> pixels) {
  size_ = pixels.size;
  if (!ImGui::GetIO().BackendRendererUserData) return;  // nothing is drawn, as in tests
  if (largest_side_ == 0) glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest_side_);
  factor_ = shrink_factor(pixels.size, largest_side_);
  if (factor_ == 1) return upload(pixels);
  const Image<Bgr> copy = shrink(pixels, factor_);
  upload(copy.view());
}

// A texture of the same size is reused.
void Texture::upload(View<const Bgr> pixels) {
  if (name_ == 0) glGenTextures(1, &name_);
  glBindTexture(GL_TEXTURE_2D, name_);
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

void Texture::draw(ImDrawList& list, ImVec2 first, ImVec2 last, float opacity) const {
  draw(list, {0, 0, size_.width, size_.height}, first, last, opacity);
}

void Texture::draw(ImDrawList& list, Rect part, ImVec2 first, ImVec2 last, float opacity) const {
  if (name_ == 0) return;
  const auto at = [this](int x, int y) {
    return ImVec2{static_cast<float>(x) / static_cast<float>(factor_ * texture_size_.width),
                  static_cast<float>(y) / static_cast<float>(factor_ * texture_size_.height)};
  };
  const auto alpha = static_cast<int>(opacity * 255 + 0.5f);
  list.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(name_)), first, last,
                at(part.x, part.y), at(part.x + part.width, part.y + part.height),
                IM_COL32(255, 255, 255, alpha));
}

void PictureView::set(View<const Bgr> frame) {
  frame_.set(frame);
  size_ = frame.size;
  shows_frame_ = true;
  shows_other_ = false;
}

void PictureView::set(View<const Bgr> frame, View<const Bgr> over) {
  set(frame);
  other_.set(over);
  shows_other_ = true;
}

void PictureView::set_apart(View<const Bgr> frame, View<const Bgr> instead) {
  set(frame, instead);
  size_ = instead.size;
  shows_frame_ = false;
}

void PictureView::pin(View<const Bgr> frame) {
  pinned_.set(frame);
  line_ = 0.5f;
}

// The line moves while it is held.
void PictureView::handle_line() {
  const float pointer = ImGui::GetMousePos().x, reach = ImGui::GetFontSize() / 2;
  const bool is_near =
      compares_ && shows_frame_ && ImGui::IsItemHovered() && std::abs(pointer - line()) <= reach;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) moves_line_ = is_near;
  if (moves_line_ && ImGui::IsMouseDown(ImGuiMouseButton_Left))
    line_ = std::clamp((pointer - corner_.x) / space_.x, 0.02f, 0.98f);
  if (is_near || moves_line_) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
}

// With Shift, or the other way round, a box is drawn in place of moving the picture.
void PictureView::handle_mark() {
  marked_.reset();
  const ImVec2 mouse = ImGui::GetMousePos();
  const ImVec2 point{(mouse.x - origin_.x) / drawn_zoom_, (mouse.y - origin_.y) / drawn_zoom_};
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    is_marking_ = ImGui::IsItemHovered() && ImGui::GetIO().KeyShift != draws_boxes_ && !moves_line_;
    mark_begin_ = point;
    mark_end_.reset();
  }
  if (!is_marking_) return;
  if (ImGui::IsMouseDragging(ImGuiMouseButton_Left)) mark_end_ = point;
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
    marked_ = marking().value_or(Rect{});
    mark_end_.reset();
  }
}

std::optional<Rect> PictureView::marking() const {
  if (!mark_end_) return std::nullopt;
  const auto pixels = [](float from, float to, int limit) {
    const auto end = static_cast<float>(limit);
    const int first = static_cast<int>(std::clamp(std::floor(std::min(from, to)), 0.0f, end));
    const int last = static_cast<int>(std::clamp(std::ceil(std::max(from, to)), 0.0f, end));
    return std::pair(first, last - first);
  };
  const auto [x, width] = pixels(mark_begin_->x, mark_end_->x, size_.width);
  const auto [y, height] = pixels(mark_begin_->y, mark_end_->y, size_.height);
  if (width == 0 || height == 0) return std::nullopt;  // beside the picture
  return Rect{x, y, width, height};
}

void PictureView::handle_mouse() {
  const ImGuiIO& io = ImGui::GetIO();
  const float now = drawn_zoom_;
  const ImVec2 pixels{now * static_cast<float>(size_.width),
                      now * static_cast<float>(size_.height)};
  if (io.MouseWheel != 0) {  // zoom around the pointer, by 20% per step of the wheel
    const float fitting = std::min(space_.x / static_cast<float>(size_.width),
                                   space_.y / static_cast<float>(size_.height));
    const float then = std::clamp(now * std::pow(1.2f, io.MouseWheel), fitting / 4, 40.0f);
    const ImVec2 off{io.MousePos.x - corner_.x - space_.x / 2,
                     io.MousePos.y - corner_.y - space_.y / 2};
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

// The point of the picture, as a fraction of its length, in the middle of the view: `wanted`, or
// the nearest one with which the picture fills the view or, if it is smaller, is in its middle.
static float reachable(float wanted, float pixels, float space) {
  if (pixels <= space) return 0.5f;
  const float half = space / pixels / 2;
  return std::clamp(wanted, half, 1 - half);
}

// Where the picture is on the screen.
void PictureView::place() {
  const auto width = static_cast<float>(size_.width), height = static_cast<float>(size_.height);
  drawn_zoom_ = zoom_ > 0 ? zoom_ : std::min(space_.x / width, space_.y / height);
  centre_ = {reachable(centre_.x, drawn_zoom_ * width, space_.x),
             reachable(centre_.y, drawn_zoom_ * height, space_.y)};
  origin_ = {corner_.x + space_.x / 2 - centre_.x * drawn_zoom_ * width,
             corner_.y + space_.y / 2 - centre_.y * drawn_zoom_ * height};
}

void PictureView::note_clicks(bool is_clicked) {
  const ImGuiIO& io = ImGui::GetIO();
  constexpr int button = ImGuiMouseButton_Left;
  if (ImGui::IsMouseDoubleClicked(button) || is_marking_) first_click_.reset();
  if (is_clicked && io.MouseClickedLastCount[button] == 1) first_click_ = pointed_;
  const bool is_over = ImGui::GetTime() - io.MouseClickedTime[button] > io.MouseDoubleClickTime;
  clicked_once_ = is_over ? std::exchange(first_click_, std::nullopt) : std::nullopt;
}

bool PictureView::draw() {
  corner_ = ImGui::GetCursorScreenPos();
  space_ = ImGui::GetContentRegionAvail();
  pointed_.reset();
  if (size_.width == 0 || space_.x < 1 || space_.y < 1) return false;
  ImGui::InvisibleButton("picture", space_);
  place();
  handle_line();
  handle_mark();
  if (!moves_line_ && !is_marking_ && (ImGui::IsItemHovered() || ImGui::IsItemActive()))
    handle_mouse();
  place();
  const ImVec2 mouse = ImGui::GetMousePos();
  const ImVec2 point{(mouse.x - origin_.x) / drawn_zoom_, (mouse.y - origin_.y) / drawn_zoom_};
  const bool is_pinned_frame = compares_ && shows_frame_ && mouse.x < line();
  if (ImGui::IsItemHovered() && !is_pinned_frame && point.x >= 0 && point.y >= 0 &&
      point.x < static_cast<float>(size_.width) && point.y < static_cast<float>(size_.height))
    pointed_ = point;
  const ImVec2 dragged = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left);
  const bool is_clicked = ImGui::IsItemDeactivated() && dragged.x == 0 && dragged.y == 0 &&
                          pointed_ && !moves_line_ && !is_marking_;
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) moves_line_ = is_marking_ = false;
  note_clicks(is_clicked);

  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(corner_, {corner_.x + space_.x, corner_.y + space_.y}, true);
  const ImVec2 first = at(0, 0), last = at(size_.width, size_.height);
  if (shows_frame_) frame_.draw(list, first, last);
  if (shows_other_) other_.draw(list, first, last, shows_frame_ ? opacity_ : 1);
  if (compares_ && shows_frame_) {
    const float bottom = corner_.y + space_.y;
    list.PushClipRect(corner_, {line(), bottom}, true);
    pinned_.draw(list, first, last);
    list.PopClipRect();
    list.AddLine({line(), corner_.y}, {line(), bottom}, IM_COL32_WHITE, 2);
  }
  list.PopClipRect();
  return true;
}

ImVec2 PictureView::at(double x, double y) const {
  return {origin_.x + drawn_zoom_ * static_cast<float>(x),
          origin_.y + drawn_zoom_ * static_cast<float>(y)};
}

void PictureView::zoom_to(const Rect& part) {
  if (size_.width == 0 || part.width <= 0 || part.height <= 0) return;
  constexpr float of_the_space = 0.6f;
  zoom_ = std::clamp(of_the_space * std::min(space_.x / static_cast<float>(part.width),
                                             space_.y / static_cast<float>(part.height)),
                     0.01f, 40.0f);
  centre_ = {(static_cast<float>(part.x) + static_cast<float>(part.width) / 2) /
                 static_cast<float>(size_.width),
             (static_cast<float>(part.y) + static_cast<float>(part.height) / 2) /
                 static_cast<float>(size_.height)};
}

}  // namespace facesat::app
