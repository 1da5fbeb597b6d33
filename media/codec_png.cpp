#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <png.h>
#include <zlib.h>

#include "media/codec_formats.hpp"
#include "media/exif.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

// libpng reports errors through callbacks, which can only be left with longjmp. A function that is
// left that way must have nothing to destroy.
class PngReader {
 public:
  PngReader(std::span<const unsigned char> file, const DecodeLimits& limits)
      : rest_(file), limits_(limits) {
    // The last argument ignores warnings.
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, auto) {});
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw MemoryError("libpng", 0);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // The size; nullopt if the header cannot be read.
  std::optional<Size> read_header() {
    if (setjmp(failed_) != 0) return std::nullopt;
    // Texts and colour profiles may be long and compressed, and are not needed.
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_AS_DEFAULT, exif_chunk, 1);
    png_set_read_fn(png_, this, read);
    png_read_info(png_, info_);
    return Size{static_cast<int>(png_get_image_width(png_, info_)),
                static_cast<int>(png_get_image_height(png_, info_))};
  }

  // Decodes to 8-bit BGR. Returns false, with the reason for rethrow(), if the file is damaged or
  // decoding was stopped.
  bool read_pixels(View<Bgr> pixels) {
    if (setjmp(failed_) != 0) return false;
    png_set_strip_16(png_);
    png_set_palette_to_rgb(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    png_set_bgr(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != pixels.size.width * sizeof(Bgr))
      png_error(png_, "its pixels are of an unknown kind");
    for (int pass = 0; pass < passes; ++pass)
      for (int y = 0; y < pixels.size.height; ++y) {
        stopped_ = limits_.should_stop && limits_.should_stop();
        if (stopped_) return false;
        png_read_row(png_, reinterpret_cast<png_bytep>(pixels.row(y)), nullptr);
      }
    png_read_end(png_, info_);
    return true;
  }

  // The EXIF data, which may come after the pixels.
  std::span<const unsigned char> exif() {
    png_uint_32 count = 0;
    png_bytep data = nullptr;
    if (png_get_eXIf_1(png_, info_, &count, &data) == 0 || !data) return {};
    return {data, count};
  }

  // Throws the error that ended one of the functions above.
  [[noreturn]] void rethrow() const {
    if (stopped_) throw Stopped();
    throw InputError("decode", fmt::format("this PNG cannot be decoded: {}", problem_));
  }

 private:
  static constexpr unsigned char exif_chunk[] = "eXIf";

  [[noreturn]] static void fail(png_structp png, png_const_charp problem) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self.problem_, problem, sizeof self.problem_ - 1);
    std::longjmp(self.failed_, 1);
  }

  static void read(png_structp png, png_bytep to, std::size_t bytes) {
    std::span<const unsigned char>& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (bytes > rest.size()) fail(png, "the file ends early");
    std::copy_n(rest.data(), bytes, to);
    rest = rest.subspan(bytes);
  }

  std::span<const unsigned char> rest_;  // bytes of the file that were not read yet
  const DecodeLimits& limits_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool stopped_ = false;
  char problem_[128]{};  // libpng's message, cut off if it is longer
  std::jmp_buf failed_;
};

// An animation has an acTL chunk before the image data (IDAT).
bool is_animated(std::span<const unsigned char> file) {
  const std::string_view bytes = as_text(file);
  return bytes.find("acTL") < bytes.find("IDAT");
}

// Errors are handled as in PngReader.
class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(
        PNG_LIBPNG_VER_STRING, this,
        [](png_structp png, auto) {
          std::longjmp(static_cast<PngWriter*>(png_get_error_ptr(png))->failed_, 1);
        },
        [](png_structp, auto) {});
    if (png_) info_ = png_create_info_struct(png_);
    if (!info_) throw MemoryError("libpng", 0);
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  bool write(View<const Bgr> pixels) {
    if (setjmp(failed_) != 0) return false;
    png_set_write_fn(png_, this, append, nullptr);
    png_set_filter(png_, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
    png_set_compression_level(png_, Z_BEST_SPEED);
    png_set_compression_strategy(png_, Z_RLE);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(pixels.size.width),
                 static_cast<png_uint_32>(pixels.size.height), 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    png_set_bgr(png_);
    for (int y = 0; y < pixels.size.height; ++y)
      png_write_row(png_, reinterpret_cast<png_const_bytep>(pixels.row(y)));
    png_write_end(png_, info_);
    return true;
  }

  std::vector<unsigned char> bytes() { return std::move(bytes_); }

 private:
  static void append(png_structp png, png_bytep from, std::size_t count) {
    auto& self = *static_cast<PngWriter*>(png_get_io_ptr(png));
    self.bytes_.insert(self.bytes_.end(), from, from + count);
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::vector<unsigned char> bytes_;
  std::jmp_buf failed_;
};

}  // namespace

Picture read_png(std::span<const unsigned char> file, const DecodeLimits& limits) {
  PngReader reader(file, limits);
  const std::optional<Size> size = reader.read_header();
  if (!size) reader.rethrow();
  check_size(*size, limits);
  const NewFrame<Bgr> frame = new_frame<Bgr>(*size);
  if (!reader.read_pixels(frame.pixels)) reader.rethrow();
  Picture picture = upright(to_picture(frame), exif_orientation(reader.exif()));
  if (is_animated(file)) picture.warning = only_first_frame;
  return picture;
}

std::vector<unsigned char> to_png(View<const Bgr> pixels) {
  PngWriter writer;
  return writer.write(pixels) ? writer.bytes() : std::vector<unsigned char>();
}

}  // namespace facesat
