#include "app/live/gui/texture.hpp"

#include <cstdint>

#include <glad/gl.h>

#include "app/live/gui/shrink.hpp"

namespace facesat::app {

Texture::~Texture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void Texture::set(View<const Bgr> pixels) {
  if (largest_side_ == 0) glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest_side_);
  size_ = pixels.size;
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
  if (!is_set()) return;
  const auto at = [this](int x, int y) {
    return ImVec2{static_cast<float>(x) / static_cast<float>(factor_ * texture_size_.width),
                  static_cast<float>(y) / static_cast<float>(factor_ * texture_size_.height)};
  };
  const auto alpha = static_cast<int>(opacity * 255 + 0.5f);
  list.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(name_)), first, last,
                at(part.x, part.y), at(part.x + part.width, part.y + part.height),
                IM_COL32(255, 255, 255, alpha));
}

}  // namespace facesat::app
