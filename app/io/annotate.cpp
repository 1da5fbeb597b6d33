#include "app/io/annotate.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "app/io/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

// The path without anything that leads out of the folder it is put under.
fs::path kept_below(const fs::path& name) {
  const bool escapes =
      name.is_absolute() || std::find(name.begin(), name.end(), "..") != name.end();
  return escapes ? name.filename() : name.lexically_normal();
}

bool can_be_written(const fs::path& name) {
  const fs::path extension = name.extension();
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

void fill(View<Bgr> picture, Rect r, Bgr colour) {
  const int right = std::min(r.x + r.width, picture.size.width);
  const int bottom = std::min(r.y + r.height, picture.size.height);
  for (int y = std::max(r.y, 0); y < bottom; ++y)
    for (int x = std::max(r.x, 0); x < right; ++x) picture.row(y)[x] = colour;
}

void draw_box(View<Bgr> picture, const Rect& r, int thickness, Bgr colour) {
  const int t = thickness;
  fill(picture, {r.x - t, r.y - t, r.width + 2 * t, t}, colour);
  fill(picture, {r.x - t, r.y + r.height, r.width + 2 * t, t}, colour);
  fill(picture, {r.x - t, r.y, t, r.height}, colour);
  fill(picture, {r.x + r.width, r.y, t, r.height}, colour);
}

}  // namespace

std::string PictureNames::add(const std::string& image, std::optional<int> frame) {
  fs::path name = kept_below(image);
  if (frame)
    name += fmt::format("_{:06}.jpg", *frame);
  else if (!can_be_written(name))
    name += ".png";
  fs::path candidate = name;
  for (int n = 2; !used_.insert(candidate.string()).second; ++n)
    candidate = name.parent_path() /
                fmt::format("{}_{}{}", name.stem().string(), n, name.extension().string());
  return candidate.string();
}

Bgr cascade_colour(std::size_t cascade) {
  static constexpr std::array<Bgr, 6> colours{{{60, 220, 60},
                                               {60, 120, 255},
                                               {255, 160, 40},
                                               {230, 60, 230},
                                               {40, 220, 230},
                                               {240, 230, 60}}};
  return colours[cascade % colours.size()];
}

Image<Bgr> with_boxes(View<const Bgr> picture, const std::vector<FoundFace>& faces) {
  Image<Bgr> result(picture.size);
  copy(picture, result.view());
  const int thickness = std::max(2, std::min(picture.size.width, picture.size.height) / 250);
  for (const FoundFace& found : faces)
    draw_box(result.view(), found.face.box, thickness, cascade_colour(found.cascade));
  return result;
}

void write_crops(const fs::path& folder, const std::string& name, View<const Bgr> picture,
                 const std::vector<FoundFace>& faces) {
  int number = 0;
  for (const FoundFace& found : faces) {
    const fs::path file = folder / fmt::format("{}_{}.png", name, ++number);
    make_folder(file.parent_path());
    write_picture(file, picture.sub(found.face.box));
  }
}

}  // namespace facesat::app
