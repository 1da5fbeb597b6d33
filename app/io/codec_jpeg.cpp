#include "app/io/codec_jpeg.hpp"

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it

#include <jpeglib.h>

#include "app/io/upright.hpp"

namespace facesat::app {
namespace {

// libjpeg-turbo reports by calling back, from where only a jump leads out. A function that is left
// so must have nothing to destroy.
class JpegReader {
 public:
  explicit JpegReader(std::span<const unsigned char> file) : file_(file) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) { fail(info); };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) fail(info);  // the others are traces
    };
    info_.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // The size; nothing for files that are left to others.
  std::optional<Size> read_header() {
    if (setjmp(failed_) != 0) return std::nullopt;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, file_.data(), file_.size());
    jpeg_read_header(&info_, TRUE);
    if (info_.num_components != 1 && info_.num_components != 3) return std::nullopt;
    info_.out_color_space = JCS_EXT_BGR;
    jpeg_start_decompress(&info_);
    return Size{static_cast<int>(info_.output_width), static_cast<int>(info_.output_height)};
  }

  bool read_pixels(View<Bgr> pixels) {
    if (setjmp(failed_) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      auto* row = reinterpret_cast<JSAMPLE*>(pixels.row(static_cast<int>(info_.output_scanline)));
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

 private:
  [[noreturn]] static void fail(j_common_ptr info) {
    std::longjmp(static_cast<JpegReader*>(info->client_data)->failed_, 1);
  }

  std::span<const unsigned char> file_;
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf failed_;
};

}  // namespace

std::optional<Picture> read_jpeg(std::span<const unsigned char> file) {
  if (file.size() < 2 || file[0] != 0xFF || file[1] != 0xD8) return std::nullopt;
  JpegReader reader(file);
  const std::optional<Size> size = reader.read_header();
  if (!size || size->area() > max_picture_pixels) return std::nullopt;
  const auto image = std::make_shared<Image<Bgr>>(*size);
  if (!reader.read_pixels(image->view())) return std::nullopt;
  return upright({image->view(), image, {}}, exif_orientation(file));
}

}  // namespace facesat::app
