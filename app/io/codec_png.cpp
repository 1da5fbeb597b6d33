#include "app/io/codec_png.hpp"

#include <algorithm>
#include <csetjmp>

#include <png.h>

namespace facesat::app {
namespace {

// libpng reports by calling back, from where only a jump leads out. A function that is left so must
// have nothing to destroy.
class PngReader {
 public:
  explicit PngReader(std::span<const unsigned char> file) : rest_(file) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, auto) {});
    if (png_) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // The size; nothing for files that are left to others.
  std::optional<Size> read_header() {
    if (!info_ || setjmp(failed_) != 0) return std::nullopt;
    png_set_read_fn(png_, this, read);
    png_read_info(png_, info_);
    if (png_get_valid(png_, info_, PNG_INFO_eXIf) != 0) return std::nullopt;
    png_set_strip_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    png_set_bgr(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != png_get_image_width(png_, info_) * sizeof(Bgr))
      return std::nullopt;
    return Size{static_cast<int>(png_get_image_width(png_, info_)),
                static_cast<int>(png_get_image_height(png_, info_))};
  }

  bool read_pixels(View<Bgr> pixels) {
    if (setjmp(failed_) != 0) return false;
    for (int pass = 0; pass < passes_; ++pass)
      for (int y = 0; y < pixels.size.height; ++y)
        png_read_row(png_, reinterpret_cast<png_bytep>(pixels.row(y)), nullptr);
    png_read_end(png_, info_);
    return png_get_valid(png_, info_, PNG_INFO_eXIf) == 0;  // it may stand behind the pixels
  }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp) {
    std::longjmp(static_cast<PngReader*>(png_get_error_ptr(png))->failed_, 1);
  }

  static void read(png_structp png, png_bytep to, std::size_t bytes) {
    std::span<const unsigned char>& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (bytes > rest.size()) fail(png, "");
    std::copy_n(rest.data(), bytes, to);
    rest = rest.subspan(bytes);
  }

  std::span<const unsigned char> rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
  std::jmp_buf failed_;
};

}  // namespace

std::optional<Picture> read_png(std::span<const unsigned char> file) {
  if (file.size() < 8 || png_sig_cmp(file.data(), 0, 8) != 0) return std::nullopt;
  PngReader reader(file);
  const std::optional<Size> size = reader.read_header();
  if (!size || size->area() > max_picture_pixels) return std::nullopt;
  const auto image = std::make_shared<Image<Bgr>>(*size);
  if (!reader.read_pixels(image->view())) return std::nullopt;
  return Picture{image->view(), image, {}};
}

}  // namespace facesat::app
