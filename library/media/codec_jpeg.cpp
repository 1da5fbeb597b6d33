#include "library/media/codec_jpeg.hpp"

#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it

#include <fmt/format.h>
#include <jpeglib.h>

#include "library/media/exif.hpp"
#include "library/media/upright.hpp"

namespace facesat {
namespace {

// Decoding may take as much work as this many scans of the largest permitted picture. Each scan of
// a progressive JPEG covers all pixels, yet can be as short as 20 bytes. Encoders write about ten.
constexpr std::uint64_t max_scans_of_largest = 10;

bool has_too_many_scans(Size size, std::uint64_t scans, const DecodeLimits& limits) {
  return scans * size.area() > max_scans_of_largest * limits.max_pixels;
}

InputError too_many_scans(std::uint64_t scans) {
  return {"limit",
          fmt::format("this JPEG has {} scans or more, which would take minutes to decode; "
                      "--max-pixels raises the limit",
                      scans)};
}

// libjpeg-turbo reports errors through callbacks, which can only be left with longjmp. A function
// that is left that way must have nothing to destroy.
class JpegReader {
 public:
  // `damage_ends`: warnings end reading, as errors do.
  JpegReader(std::span<const unsigned char> file, const DecodeLimits& limits, bool damage_ends)
      : file_(file), limits_(limits), damage_ends_(damage_ends) {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) { fail_by_damage(info); };
    errors_.emit_message = [](j_common_ptr info, int level) {
      const bool ends = static_cast<JpegReader*>(info->client_data)->damage_ends_;
      if (level < 0 && ends) fail_by_damage(info);  // levels 0 and above are traces
    };
    progress_.progress_monitor = [](j_common_ptr info) {
      auto& self = *static_cast<JpegReader*>(info->client_data);
      if (self.should_end()) fail(info);
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
    jpeg_read_header(&info_, TRUE);
    return size();
  }

  // Only grey and colour files are read here, the rest by other decoders.
  bool is_gray_or_colour() const { return info_.num_components == 1 || info_.num_components == 3; }

  // Reads all scans of a progressive JPEG.
  bool start(J_COLOR_SPACE colours) {
    if (setjmp(failed_) != 0) return false;
    info_.out_color_space = colours;
    return jpeg_start_decompress(&info_) != 0;
  }

  template <class Pixel>
  bool read_pixels(View<Pixel> pixels) {
    if (setjmp(failed_) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      auto* row = reinterpret_cast<JSAMPLE*>(pixels.row(static_cast<int>(info_.output_scanline)));
      jpeg_read_scanlines(&info_, &row, 1);
    }
    jpeg_finish_decompress(&info_);
    return true;
  }

  // The problem that libjpeg-turbo reported; empty if there is none.
  const char* damage() const { return damage_; }

  // Throws if one of the functions above ended for a reason other than the file: a stop request or
  // too many scans.
  void rethrow() const {
    if (stopped_) throw Stopped();
    if (has_too_many_scans_) throw too_many_scans(scans());
  }

 private:
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
    has_too_many_scans_ = has_too_many_scans(size(), scans(), limits_);
    stopped_ = limits_.should_stop && limits_.should_stop();
    return stopped_ || has_too_many_scans_;
  }

  // Keeps the message for damage() and leaves the function that was called.
  [[noreturn]] static void fail_by_damage(j_common_ptr info) {
    info->err->format_message(info, static_cast<JpegReader*>(info->client_data)->damage_);
    fail(info);
  }
  [[noreturn]] static void fail(j_common_ptr info) {
    std::longjmp(static_cast<JpegReader*>(info->client_data)->failed_, 1);
  }

  std::span<const unsigned char> file_;
  const DecodeLimits& limits_;
  const bool damage_ends_;
  unsigned calls_ = 0;  // of should_end()
  bool stopped_ = false, has_too_many_scans_ = false;
  char damage_[JMSG_LENGTH_MAX] = "";
  jpeg_decompress_struct info_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf failed_;
};

// The rest of the work after the header; nullopt if the file is damaged.
template <class Pixel>
std::optional<Picture> read_upright(JpegReader& reader, J_COLOR_SPACE colours, Size size,
                                    std::span<const unsigned char> file) {
  if (!reader.start(colours)) return std::nullopt;
  const NewFrame<Pixel> frame = new_frame<Pixel>(size);
  if (!reader.read_pixels(frame.pixels)) return std::nullopt;
  return upright(to_picture(frame), exif_orientation(exif_in_jpeg(file)));
}

}  // namespace

std::optional<Picture> read_jpeg(std::span<const unsigned char> file, const DecodeLimits& limits,
                                 Reading reading, std::string* damage) {
  if (file.size() < 2 || file[0] != 0xFF || file[1] != 0xD8) return std::nullopt;
  JpegReader reader(file, limits, true);
  const auto leave_to_others = [&] {
    reader.rethrow();
    if (damage) *damage = reader.damage();
    return std::nullopt;
  };
  const std::optional<Size> size = reader.read_header();
  if (!size || !reader.is_gray_or_colour()) return leave_to_others();
  if (size->area() > limits.max_pixels) throw too_large(*size, limits);
  std::optional<Picture> picture =
      reading == Reading::luma ? read_upright<std::uint8_t>(reader, JCS_GRAYSCALE, *size, file)
                               : read_upright<Bgr>(reader, JCS_EXT_BGR, *size, file);
  return picture ? std::move(picture) : leave_to_others();
}

// Checks the size that a decoder finds if it skips damage. Starts of scans are counted anywhere in
// the file, because such a decoder may reach any of them.
void require_jpeg_within_limits(std::span<const unsigned char> file, const DecodeLimits& limits) {
  const std::optional<Size> size = JpegReader(file, limits, false).read_header();
  if (!size) return;  // no decoder can read it
  if (size->area() > limits.max_pixels) throw too_large(*size, limits);
  std::uint64_t scans = 0;
  for (std::size_t i = 0; i + 1 < file.size(); ++i) scans += file[i] == 0xFF && file[i + 1] == 0xDA;
  if (has_too_many_scans(*size, scans, limits)) throw too_many_scans(scans);
}

}  // namespace facesat
