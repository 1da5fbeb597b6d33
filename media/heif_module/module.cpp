#include <memory>

#include <fmt/format.h>
#include <libheif/heif.h>

#include "media/codec_formats.hpp"

namespace facesat::module {
namespace {

void require(const heif_error& error) {
  if (error.code == heif_error_Memory_allocation_error) throw MemoryError("libheif", 0);
  if (error.code != heif_error_Ok)
    throw InputError("decode", fmt::format("this HEIF cannot be decoded: {}", error.message));
}

using Context = std::unique_ptr<heif_context, decltype(&heif_context_free)>;
using Handle = std::unique_ptr<heif_image_handle, decltype(&heif_image_handle_release)>;
using Pixels = std::unique_ptr<heif_image, decltype(&heif_image_release)>;

Handle primary_picture(heif_context* context, const DecodeLimits& limits) {
  heif_image_handle* handle = nullptr;
  require(heif_context_get_primary_image_handle(context, &handle));
  Handle primary(handle, heif_image_handle_release);
  const Size size{heif_image_handle_get_width(handle), heif_image_handle_get_height(handle)};
  check_size(size, limits);
  return primary;
}

// Red, green and blue.
Pixels decode(heif_image_handle* handle) {
  heif_image* image = nullptr;
  require(
      heif_decode_image(handle, &image, heif_colorspace_RGB, heif_chroma_interleaved_RGB, nullptr));
  return {image, heif_image_release};
}

}  // namespace

// The size that the file states need not be that of the decoded picture.
Picture read_heif(std::span<const unsigned char> file, const DecodeLimits& limits) {
  const Context context(heif_context_alloc(), heif_context_free);
  if (!context) throw MemoryError("libheif", 0);
  require(
      heif_context_read_from_memory_without_copy(context.get(), file.data(), file.size(), nullptr));
  const Handle handle = primary_picture(context.get(), limits);
  const Pixels decoded = decode(handle.get());
  int pitch = 0;
  const std::uint8_t* from =
      heif_image_get_plane_readonly(decoded.get(), heif_channel_interleaved, &pitch);
  const Size size{heif_image_get_width(decoded.get(), heif_channel_interleaved),
                  heif_image_get_height(decoded.get(), heif_channel_interleaved)};
  if (!from || size.width <= 0 || size.height <= 0)
    throw InputError("decode", "this HEIF cannot be decoded: it has no colours");
  check_size(size, limits);
  const auto image = std::make_shared<Image<Bgr>>(size);
  for (int y = 0; y < size.height; ++y, from += pitch)
    for (int x = 0; x < size.width; ++x)
      image->row(y)[x] = {from[3 * x + 2], from[3 * x + 1], from[3 * x]};
  const bool has_more = heif_context_get_number_of_top_level_images(context.get()) > 1;
  return {image->view(), image, has_more ? only_first_picture : ""};
}

// The symbol that read_heif() looks for.
extern "C" const Heif facesat_heif;
const Heif facesat_heif{read_heif};

}  // namespace facesat::module
