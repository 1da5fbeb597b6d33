// libFuzzer: any bytes as each of the other files that the program parses itself: a picture, the
// beginning of a Matroska video, an archive, results, a journal. A reader may throw only the errors
// that it documents.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>

#include <sys/mman.h>
#include <unistd.h>

#include "kernels/jpeg/jpeg_stream.hpp"
#include "media/codec_formats.hpp"
#include "media/exif.hpp"
#include "media/matroska.hpp"
#include "results/archive.hpp"
#include "results/format.hpp"
#include "results/journal_file.hpp"
#include "support/errors.hpp"

namespace facesat::app {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t most_pixels = 1 << 16;  // so that pictures are decoded quickly

// Ends the program, which libFuzzer reports, unless `holds`.
void require(bool holds) {
  if (!holds) std::abort();
}

void read_exif(Bytes bytes) {
  const int orientation = exif_orientation(bytes);
  require(orientation >= 0 && orientation <= 8);
  has_only_previews(bytes);
}

// `read`: takes the bytes and the limits. All pixels must be there.
template <class Read>
void read_picture(Read read, Bytes bytes) {
  try {
    const Picture picture = read(bytes, DecodeLimits{.max_pixels = most_pixels});
    const Size size = picture.size();
    require(size.area() > 0 && size.area() <= most_pixels);
    unsigned sum = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        sum += picture.luma.data ? picture.luma.row(y)[x] : picture.pixels.row(y)[x].g;
    require(sum <= most_pixels * 255);
  } catch (const InputError&) {
  }
}

// Pixels that need no decoding lie in the file.
void read_pixels(Bytes bytes) {
  try {
    const auto found = pixels_in_pnm(bytes, DecodeLimits{.max_pixels = most_pixels});
    if (!found) return;
    const ImageView& image = found->pixels;
    const auto row = static_cast<std::size_t>(image.size.width) * bytes_per_pixel(image.format);
    require(image.size.area() > 0 && image.size.area() <= most_pixels);
    require(static_cast<std::size_t>(image.pitch) == row);
    const auto* const first = static_cast<const unsigned char*>(image.pixels);
    require(first >= bytes.data() &&
            first + row * image.size.height <= bytes.data() + bytes.size());
  } catch (const InputError&) {
  }
}

void read_pictures(Bytes bytes) {
  for (const Reading reading : {Reading::colour, Reading::luma})
    read_picture([=](auto file, auto limits) { return read_jpeg(file, limits, reading); }, bytes);
  read_picture(read_png, bytes);
  read_picture(read_bmp, bytes);
  read_picture(read_pnm, bytes);
  read_pixels(bytes);
#if FACESAT_TIFF
  read_picture(read_tiff, bytes);
#endif
#if FACESAT_WEBP
  read_picture(read_webp, bytes);
#endif
}

// What kernels read lies within the arrays.
void read_jpeg_bits(Bytes bytes) {
  const auto read = gpu::read_jpeg_stream(bytes, most_pixels);
  const auto* const stream = std::get_if<gpu::JpegStream>(&read);
  if (!stream) return;
  const gpu::JpegHeader& header = stream->header;
  require(header.size.area() > 0 && header.size.area() <= most_pixels);
  require(stream->end <= bytes.size() && header.segment_mcus > 0);
  require(header.segment_count == static_cast<int>(stream->segments.size()));
  std::size_t pieces = 0, words = 0;
  for (const gpu::JpegSegment& segment : stream->segments) {
    require(segment.first_piece == pieces && segment.first_word == words && segment.bits > 0);
    pieces += (segment.bits + gpu::piece_bits - 1) / gpu::piece_bits;
    words += (segment.bits + 31) / 32;
  }
  require(header.piece_count == static_cast<int>(pieces) &&
          header.word_count == static_cast<int>(words + 4) &&
          4 * (words + 4) <= stream->segments_at - stream->bits_at);
}

void read_results(std::string_view text, const std::filesystem::path& file) {
  const Layout layout;
  for (const Format* format : formats()) format->is_torn(text, layout);
  std::istringstream line(std::string(text) + "\n");
  const bool is_record = text.find('\n') == text.npos && jsonl_format().holds_only_results(line);
  require(!is_record || jsonl_format().is_torn(text, layout));
  format_of_results(file);
  try {
    jsonl_format().journal_of(file, file.string(), layout);
  } catch (const UsageError&) {
  }
}

// Members lie within the archive, and each has a header.
void read_archive(const std::filesystem::path& file, std::size_t size) {
  constexpr std::size_t header = 512;
  std::size_t members = 0;
  try {
    Archive archive(file);
    while (const auto member = archive.next()) {
      require(++members <= size / header);
      require(!member->name.starts_with("./"));
      if (member->is_link || member->is_special) continue;
      try {
        require(member->read().size() <= size);
      } catch (const InputError&) {
      }
    }
  } catch (const InputError&) {
  }
}

// A journal that can be read must be the same after it is written and read again.
void read_journals(const std::filesystem::path& file, int descriptor) {
  try {
    const JournalFile journal = read_journal(file);
    const std::string again = to_text(journal);
    require(::ftruncate(descriptor, 0) == 0);
    require(::pwrite(descriptor, again.data(), again.size(), 0) ==
            static_cast<ssize_t>(again.size()));
    require(to_text(read_journal(file)) == again);
  } catch (const UsageError&) {
  }
}

}  // namespace
}  // namespace facesat::app

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facesat::app;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_exif({data, size});
  read_pictures({data, size});
  read_jpeg_bits({data, size});
  facesat::matroska_size(text);
  const int descriptor = ::memfd_create("fuzz", 0);
  require(descriptor >= 0 && ::write(descriptor, data, size) == static_cast<ssize_t>(size));
  const std::string file = "/proc/self/fd/" + std::to_string(descriptor);
  read_archive(file, size);
  read_results(text, file);
  read_journals(file, descriptor);
  ::close(descriptor);
  return 0;
}
