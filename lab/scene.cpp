#include "lab/scene.hpp"

#include <fmt/format.h>

#include "cascades/cascade_store.hpp"
#include "core/cpu/gray.hpp"
#include "facesat.hpp"
#include "media/stamp.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace facesat::lab {

Scene make_scene(const Picture& picture, Size size) {
  Scene scene{size, new_frame<Bgr>(size), Image<std::uint8_t>(size)};
  copy(picture.pixels.sub({0, 0, size.width, size.height}), scene.frame.pixels);
  cpu::to_gray(scene.frame.pixels, scene.gray.view());
  return scene;
}

Picture read_scene_picture(const std::string& file) {
  try {
    return read_picture(file);
  } catch (const InputError& error) {
    throw UsageError(fmt::format("{}: {}", file, error.what()));
  }
}

std::vector<Size> scene_sizes(const std::vector<std::string>& texts, Size picture) {
  std::vector<Size> sizes;
  for (const std::string& text : texts) {
    const Size size = parse_size(text);
    if (size.width < 1 || size.height < 1 || size.width > picture.width ||
        size.height > picture.height)
      throw UsageError(fmt::format("--size {}: expected from 1x1 to {}x{}, the size of the picture",
                                   text, picture.width, picture.height));
    sizes.push_back(size);
  }
  if (sizes.empty()) sizes.push_back(picture);  // no --size: the whole picture
  return sizes;
}

void PictureFiles::require_writable(const std::string& what) const {
  if (output.empty()) return;
  if (!has_extension(output, {".png"}))
    throw UsageError(fmt::format(
        "--output {}: {} is written as a .png file, which keeps every pixel", output, what));
  if (!image.empty() && same_file(output, image))
    throw UsageError("--image and --output need different files");
  facesat::require_writable(output);
  if (has_contents(output) && !is_stamped(output)) refuse_foreign(output);
}

void write_gray(const std::string& file, const Image<std::uint8_t>& picture) {
  Picture gray;
  gray.luma = picture.view();
  write_picture(file, in_colour(gray).pixels);
}

void require_windows(const std::string& cascade, Size size, const DetectOptions& options) {
  const Pyramid pyramid = plan_pyramid(size, find_cascade(cascade)->window, options);
  if (pyramid.levels.empty())
    throw UsageError(fmt::format("--size {}x{}: in a picture of this size no window of {} fits",
                                 size.width, size.height, cascade));
}

}  // namespace facesat::lab
