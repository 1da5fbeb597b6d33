#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "media/codec_formats.hpp"
#include "media/exif.hpp"
#include "support/files.hpp"

namespace facesat {
namespace {

using namespace std::string_view_literals;

// Decoding may take as much work as this many scans of the largest permitted picture. Each scan of
// a progressive JPEG covers all pixels, yet can be as short as 20 bytes. Encoders write about ten.
constexpr std::uint64_t max_scans_of_largest = 10;

// libjpeg-turbo reports errors through callbacks, which can only be left with longjmp. A function
// that is left that way must have nothing to destroy.
class JpegReader {
 public:
  JpegReader(std::span<const unsigned char> file, const DecodeLimits& limits)
      : file_(file), limits_(limits) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) {
      auto& self = of(info);
      info->err->format_message(info, self.error_);
      std::longjmp(self.failed_, 1);
    };
    errors_.emit_message = [](j_common_ptr info, int level) {
      if (level < 0) of(info).keep_warning();  // levels 0 and above are traces
    };
    progress_.progress_monitor = [](j_common_ptr info) {
      auto& self = of(info);
      if (self.should_end()) std::longjmp(self.failed_, 1);
    };
    info_.client_data = this;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  // The size; nullopt if the header cannot be read.
  std::optional<Size> read_header() {
    if (setjmp(failed_) != 0) return std::nullopt;
    jpeg_create_decompress(&info_);
    info_.progress = &progress_;
    jpeg_mem_src(&info_, file_.data(), file_.size());
    jpeg_save_markers(&info_, JPEG_APP0 + 1, UINT16_MAX);
    jpeg_read_header(&info_, TRUE);
    return size();
  }

  // The data of the first APP1 segment before the first scan, valid until the pixels are read.
  std::span<const unsigned char> metadata() const {
    const jpeg_saved_marker_ptr first = info_.marker_list;
    if (!first) return {};
    return {first->data, first->data_length};
  }

  // libjpeg-turbo converts all colours but these.
  bool is_cmyk() const { return info_.num_components == 4; }

  // Reads all scans of a progressive JPEG.
  bool start(J_COLOR_SPACE colours) {
    if (setjmp(failed_) != 0) return false;
    info_.out_color_space = is_cmyk() ? JCS_CMYK : colours;
    return jpeg_start_decompress(&info_) != 0;
  }

  // `cmyk`: memory for a row, if is_cmyk().
  template <class Pixel>
  bool read_pixels(View<Pixel> pixels, std::span<JSAMPLE> cmyk) {
    if (setjmp(failed_) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      Pixel* const to = pixels.row(static_cast<int>(info_.output_scanline));
      JSAMPLE* row = is_cmyk() ? cmyk.data() : reinterpret_cast<JSAMPLE*>(to);
      jpeg_read_scanlines(&info_, &row, 1);
      if (is_cmyk()) convert(cmyk, to);
    }
    return true;
  }

  // Reads what comes after the pixels. They are complete, so an error is only a warning.
  void finish() {
    if (setjmp(failed_) != 0)
      std::copy(std::begin(error_), std::end(error_), std::begin(warning_));
    else
      jpeg_finish_decompress(&info_);
  }

  // Throws the error that ended one of the functions above.
  [[noreturn]] void rethrow() const {
    if (stopped_) throw Stopped();
    if (has_too_many_scans_)
      throw InputError(
          "limit",
          fmt::format("this JPEG has {} scans or more, which would take minutes to decode; "
                      "--max-pixels raises the limit",
                      scans()));
    if (errors_.msg_code == JERR_OUT_OF_MEMORY) throw MemoryError("libjpeg-turbo", 0);
    throw InputError("decode", fmt::format("this JPEG cannot be decoded: {}", error_));
  }

  // After finish(): a sentence, if the file is damaged or has several pictures.
  std::string warning() const {
    if (ends_early_) return "the file ends early, so the lower part of the picture is missing";
    if (warning_[0] != 0) return fmt::format("the file is damaged ({})", warning_);
    const std::size_t end = file_.size() - info_.src->bytes_in_buffer;
    return has_more_pictures(file_, end) ? only_first_picture : "";
  }

 private:
  static JpegReader& of(j_common_ptr info) { return *static_cast<JpegReader*>(info->client_data); }

  Size size() const {
    return {static_cast<int>(info_.image_width), static_cast<int>(info_.image_height)};
  }
  std::uint64_t scans() const {
    return static_cast<std::uint64_t>(std::max(info_.input_scan_number, 1));
  }

  // libjpeg-turbo calls this for every row, and more often, through progress_.
  bool should_end() {
    constexpr int calls_per_poll = 16;
    if (++calls_ % calls_per_poll != 0) return false;
    has_too_many_scans_ = scans() * size().area() > max_scans_of_largest * limits_.max_pixels;
    stopped_ = limits_.should_stop && limits_.should_stop();
    return stopped_ || has_too_many_scans_;
  }

  // Keeps the first message. Where the file has ended, libjpeg-turbo goes on with grey.
  void keep_warning() {
    ends_early_ |= errors_.msg_code == JWRN_JPEG_EOF;
    if (warning_[0] == 0) errors_.format_message(reinterpret_cast<j_common_ptr>(&info_), warning_);
  }

  // As cv::imread does it, which takes the values for inverted ones, as Adobe's programs write
  // them.
  static void convert(std::span<const JSAMPLE> cmyk, Bgr* to) {
    for (std::size_t i = 0; i < cmyk.size(); i += 4, ++to) {
      const int key = cmyk[i + 3];
      const auto channel = [&](std::size_t of) {
        return static_cast<std::uint8_t>(key - ((255 - cmyk[i + of]) * key >> 8));
      };
      *to = {channel(2), channel(1), channel(0)};
    }
  }
  static void convert(std::span<const JSAMPLE> cmyk, std::uint8_t* to) {
    constexpr int shift = 14, red = 4899, green = 9617, blue = (1 << shift) - red - green;
    for (std::size_t i = 0; i < cmyk.size(); i += 4, ++to) {
      Bgr pixel;
      convert(cmyk.subspan(i, 4), &pixel);
      *to = static_cast<std::uint8_t>(
          (pixel.b * blue + pixel.g * green + pixel.r * red + (1 << (shift - 1))) >> shift);
    }
  }

  std::span<const unsigned char> file_;
  const DecodeLimits& limits_;
  unsigned calls_ = 0;  // of should_end()
  bool stopped_ = false, has_too_many_scans_ = false, ends_early_ = false;
  char error_[JMSG_LENGTH_MAX] = "", warning_[JMSG_LENGTH_MAX] = "";
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf failed_;
};

// The rest of the work after the header.
template <class Pixel>
Picture read_upright(JpegReader& reader, J_COLOR_SPACE colours, Size size) {
  const int orientation = jpeg_orientation(reader.metadata());
  if (!reader.start(colours)) reader.rethrow();
  const NewFrame<Pixel> frame = new_frame<Pixel>(size);
  std::vector<JSAMPLE> cmyk(reader.is_cmyk() ? 4 * static_cast<std::size_t>(size.width) : 0);
  if (!reader.read_pixels(frame.pixels, cmyk)) reader.rethrow();
  reader.finish();
  return upright(to_picture(frame), orientation);
}

// Another decoder, as long as one is set.
class OtherDecoder {
 public:
  void set(DecodeJpeg decode) {
    auto shared = decode ? std::make_shared<const DecodeJpeg>(std::move(decode)) : nullptr;
    const std::scoped_lock lock(mutex_);
    decode_.swap(shared);
  }
  std::shared_ptr<const DecodeJpeg> get() {
    const std::scoped_lock lock(mutex_);
    return decode_;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const DecodeJpeg> decode_;
};

// Never destroyed: threads that wait for a camera may outlive all other objects.
OtherDecoder& other_decoder() {
  static auto* const decoder = new OtherDecoder;
  return *decoder;
}

// Errors are handled as in JpegReader.
class JpegWriter {
 public:
  JpegWriter() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) {
      std::longjmp(static_cast<JpegWriter*>(info->client_data)->failed_, 1);
    };
    info_.client_data = this;
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&info_);
    std::free(data_);
  }
  JpegWriter(const JpegWriter&) = delete;
  JpegWriter& operator=(const JpegWriter&) = delete;

  bool write(View<const Bgr> pixels) {
    constexpr int quality = 95;
    if (setjmp(failed_) != 0) return false;
    jpeg_create_compress(&info_);
    jpeg_mem_dest(&info_, &data_, &count_);
    info_.image_width = static_cast<JDIMENSION>(pixels.size.width);
    info_.image_height = static_cast<JDIMENSION>(pixels.size.height);
    info_.input_components = 3;
    info_.in_color_space = JCS_EXT_BGR;
    jpeg_set_defaults(&info_);
    jpeg_set_quality(&info_, quality, TRUE);
    jpeg_start_compress(&info_, TRUE);
    for (int y = 0; y < pixels.size.height; ++y) {
      // libjpeg-turbo only reads the row.
      auto* row = const_cast<JSAMPLE*>(reinterpret_cast<const JSAMPLE*>(pixels.row(y)));
      jpeg_write_scanlines(&info_, &row, 1);
    }
    jpeg_finish_compress(&info_);
    return true;
  }

  std::vector<unsigned char> bytes() const { return {data_, data_ + count_}; }

 private:
  unsigned char* data_ = nullptr;
  unsigned long count_ = 0;
  jpeg_compress_struct info_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf failed_;
};

}  // namespace

void decode_jpegs_with(DecodeJpeg decode) {
  other_decoder().set(std::move(decode));
}

bool has_more_pictures(std::span<const unsigned char> jpeg, std::size_t end) {
  const auto next = std::ranges::find_if(jpeg.subspan(end), [](unsigned char c) { return c != 0; });
  const std::string_view file = as_text(jpeg);
  const auto begin = static_cast<std::size_t>(next - jpeg.begin());
  if (!file.substr(begin).starts_with("\xFF\xD8\xFF")) return false;
  const std::string_view first = file.substr(0, begin);
  const std::size_t index = first.find("MPF\0"sv);
  if (index != first.npos && has_only_previews(jpeg.subspan(index + 4))) return false;
  return first.find("http://ns.adobe.com/hdr-gain-map/") == first.npos;
}

// The segment's signature is not checked: if XMP comes before EXIF, no orientation is found.
int jpeg_orientation(std::span<const unsigned char> segment) {
  constexpr std::size_t bytes_of_signature = 6;
  return segment.size() <= bytes_of_signature
             ? 0
             : exif_orientation(segment.subspan(bytes_of_signature));
}

Picture read_jpeg(std::span<const unsigned char> file, const DecodeLimits& limits,
                  Reading reading) {
  if (const auto decode = other_decoder().get())
    if (std::optional<Picture> picture = (*decode)(file, limits, reading))
      return std::move(*picture);
  JpegReader reader(file, limits);
  const std::optional<Size> size = reader.read_header();
  if (!size) reader.rethrow();
  check_size(*size, limits);
  Picture picture = reading == Reading::luma
                        ? read_upright<std::uint8_t>(reader, JCS_GRAYSCALE, *size)
                        : read_upright<Bgr>(reader, JCS_EXT_BGR, *size);
  picture.warning = reader.warning();
  return picture;
}

std::vector<unsigned char> to_jpeg(View<const Bgr> pixels) {
  JpegWriter writer;
  return writer.write(pixels) ? writer.bytes() : std::vector<unsigned char>();
}

}  // namespace facesat
