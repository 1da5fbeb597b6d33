#include "tests/kit/encode.hpp"

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>
#if FACESAT_TIFF
#include <tiffio.h>
#endif
#if FACESAT_WEBP
#include <webp/encode.h>
#include <webp/mux.h>
#endif

namespace facesat::test {

namespace fs = std::filesystem;

Bytes noise(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

Bytes joined(Bytes first, const Bytes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

void append_number(Bytes& to, std::uint64_t value, int bytes, ByteOrder order) {
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (order == ByteOrder::little ? i : bytes - 1 - i);
    to.push_back(shift < 64 ? static_cast<unsigned char>(value >> shift) : 0);
  }
}

// ---- JPEG and PNG

namespace {

// A ramp with some noise, so that the coefficients of a JPEG differ from block to block.
Bytes ramp(Size size, int channels) {
  Bytes bytes = noise(size.area() * channels, 1);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(bytes[i] / 4 + 3 * i % 190);
  return bytes;
}

}  // namespace

// A TIFF header and one entry.
Bytes exif_with(int orientation) {
  const auto value = static_cast<unsigned char>(orientation);
  return {'E', 'x', 'i', 'f', 0, 0, 'M', 'M', 0, 42,    0, 0, 0, 8, 0, 1,
          1,   18,  0,   3,   0, 0, 0,   1,   0, value, 0, 0, 0, 0, 0, 0};
}

Bytes encode_jpeg(Size size, const JpegKind& kind) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &data, &count);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = kind.channels;
  info.in_color_space = kind.channels == 1   ? JCS_GRAYSCALE
                        : kind.channels == 3 ? JCS_RGB
                                             : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (kind.ycck) jpeg_set_colorspace(&info, JCS_YCCK);
  jpeg_set_quality(&info, 80, TRUE);
  info.comp_info[0].h_samp_factor = kind.across;
  info.comp_info[0].v_samp_factor = kind.down;
  if (kind.progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  if (kind.orientation > 0) {
    const Bytes exif = exif_with(kind.orientation);
    jpeg_write_marker(&info, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  Bytes pixels = ramp(size, kind.channels);
  for (int y = 0; y < size.height; ++y) {
    unsigned char* row = &pixels[static_cast<std::size_t>(y) * size.width * kind.channels];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes file(data, data + count);
  std::free(data);
  return file;
}

Bytes encode_png(Size size, const PngKind& kind) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp from, png_bytep data, std::size_t count) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(from));
        to.insert(to.end(), data, data + count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), kind.bits, kind.colour_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  const Bytes colours = noise(3 * 256, 2), alphas = noise(256, 3);
  if (kind.colour_type == PNG_COLOR_TYPE_PALETTE)
    png_set_PLTE(png, info, reinterpret_cast<png_const_colorp>(colours.data()), 1 << kind.bits);
  const png_color_16 see_through{1, 1, 1, 1, 1};  // the transparent colour, if there is no palette
  if (kind.transparent)
    png_set_tRNS(png, info, alphas.data(), 1 << std::min(kind.bits, 8), &see_through);
  png_write_info(png, info);
  const std::size_t row_bytes = png_get_rowbytes(png, info);
  Bytes pixels = noise(row_bytes * size.height, 4);
  std::vector<png_bytep> rows;
  for (int y = 0; y < size.height; ++y) rows.push_back(&pixels[y * row_bytes]);
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

Bytes with_chunk(Bytes png, std::size_t at, std::string_view type, const Bytes& data) {
  Bytes chunk = joined(bytes_of(type), data);
  append_number(chunk, crc32(0, chunk.data(), static_cast<uInt>(chunk.size())), 4, ByteOrder::big);
  Bytes length;
  append_number(length, data.size(), 4, ByteOrder::big);
  return with_bytes(std::move(png), at, joined(length, chunk));
}

Bytes segment(unsigned char marker, std::string_view signature, const Bytes& data) {
  const std::size_t length = 2 + signature.size() + data.size();
  Bytes bytes{0xFF, marker, static_cast<unsigned char>(length >> 8),
              static_cast<unsigned char>(length)};
  bytes.resize(2 + length);
  std::ranges::copy(data, std::ranges::copy(signature, bytes.begin() + 4).out);
  return bytes;
}

Bytes with_bytes(Bytes file, std::size_t at, const Bytes& bytes) {
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin(), bytes.end());
  return file;
}

// ---- BMP

std::size_t bmp_row(int width, int bits) {
  return (static_cast<std::size_t>(width) * bits + 31) / 32 * 4;
}

Bytes encode_bmp(Size size, const BmpKind& kind, const Bytes& palette, const Bytes& data) {
  const bool is_os2 = kind.header == 12;
  const std::size_t begin = 14 + kind.header + kind.after_header.size() + palette.size();
  Bytes file{'B', 'M'};
  append_number(file, begin + data.size(), 4);
  append_number(file, 0, 4);
  append_number(file, begin, 4);
  append_number(file, kind.header, 4);
  append_number(file, size.width, is_os2 ? 2 : 4);
  append_number(file, kind.top_down ? -size.height : size.height, is_os2 ? 2 : 4);
  append_number(file, 1, 2);
  append_number(file, kind.bits, 2);
  if (!is_os2) {
    append_number(file, kind.compression, 4);
    append_number(file, data.size(), 4);
    append_number(file, 0, 8);
    append_number(file, kind.colours, 4);
    append_number(file, 0, 4);
    file.resize(14 + kind.header);
  }
  return joined(joined(joined(file, kind.after_header), palette), data);
}

Bytes encode_bmp(Size size, const BmpKind& kind) {
  const std::size_t colours = kind.bits > 8       ? 0
                              : kind.colours == 0 ? std::size_t{1} << kind.bits
                                                  : kind.colours;
  return encode_bmp(size, kind, noise(colours * (kind.header == 12 ? 3 : 4), 2),
                    noise(bmp_row(size.width, kind.bits) * size.height, 3));
}

Bytes masks(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  Bytes bytes;
  for (const std::uint32_t mask : {red, green, blue}) append_number(bytes, mask, 4);
  return bytes;
}

Bytes random_rle(Size size, int bits, unsigned seed) {
  std::mt19937 random(seed);
  Bytes data;
  const auto add = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) data.push_back(static_cast<unsigned char>(byte));
  };
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width;) {
      const int count = 1 + static_cast<int>(random() % std::min(20, size.width - x));
      const unsigned choice = random() % 20;
      if (choice < 9 || count < 3) {
        add({count, static_cast<int>(random() % 256)});
      } else if (choice < 17) {
        add({0, count});
        const int bytes = bits == 8 ? count : (count + 1) / 2;
        for (int i = 0; i < bytes + bytes % 2; ++i) add({static_cast<int>(random() % 256)});
      } else if (choice < 18 && seed % 3 == 0) {
        add({0, 2, count, static_cast<int>(seed % 2)});
      } else if (choice < 19 && seed % 4 == 0) {
        break;
      } else if (random() % 50 == 0 && seed % 5 == 0) {
        add({0, 1});
      }
      x += count;
    }
    if (seed % 7 != 6) add({0, 0});
  }
  if (seed % 11 != 10) add({0, 1});
  return data;
}

// ---- PNM, WebP, TIFF

Bytes encode_pnm(char kind, Size size, int maximum, unsigned seed) {
  const bool is_bitmap = kind == '1' || kind == '4', is_text = kind < '4';
  const int channels = kind == '3' || kind == '6' ? 3 : 1;
  std::mt19937 random(seed);
  Bytes file = bytes_of(fmt::format("P{}\n# a comment\n{} {}\n", kind, size.width, size.height));
  if (!is_bitmap) file = joined(file, bytes_of(fmt::format("{}\n", maximum)));
  if (kind == '4') return joined(file, noise((size.width + 7) / 8 * size.height, seed));
  for (std::size_t i = 0; i < size.area() * channels; ++i) {
    const unsigned value = random() % (is_bitmap ? 2 : maximum + 1);
    if (is_text) {
      file = joined(file, bytes_of(std::to_string(value)));
      if (!is_bitmap || i % 3 == 0) file.push_back(i % 5 == 0 ? '\n' : ' ');
    } else {
      if (maximum > 255) file.push_back(static_cast<unsigned char>(value >> 8));
      file.push_back(static_cast<unsigned char>(value));
    }
  }
  return is_text ? joined(file, {'\n'}) : file;
}

#if FACESAT_WEBP
Bytes encode_webp(Size size, bool has_alpha, bool lossless, float quality) {
  const Bytes pixels = noise(size.area() * (has_alpha ? 4 : 3), 8);
  const int pitch = size.width * (has_alpha ? 4 : 3);
  std::uint8_t* data = nullptr;
  const auto [w, h] = size;
  const std::size_t count = lossless ? (has_alpha ? WebPEncodeLosslessBGRA : WebPEncodeLosslessBGR)(
                                           pixels.data(), w, h, pitch, &data)
                                     : (has_alpha ? WebPEncodeBGRA : WebPEncodeBGR)(
                                           pixels.data(), w, h, pitch, quality, &data);
  Bytes file(data, data + count);
  WebPFree(data);
  return file;
}

Bytes animated_webp(Size size) {
  WebPAnimEncoderOptions options;
  WebPAnimEncoderOptionsInit(&options);
  WebPAnimEncoder* const encoder = WebPAnimEncoderNew(size.width, size.height, &options);
  WebPConfig config;
  WebPConfigInit(&config);
  config.lossless = 1;
  for (unsigned frame = 0; frame < 3; ++frame) {
    WebPPicture picture;
    WebPPictureInit(&picture);
    picture.use_argb = 1;
    picture.width = size.width;
    picture.height = size.height;
    const Bytes pixels = noise(size.area() * 3, 8 + frame);
    WebPPictureImportBGR(&picture, pixels.data(), size.width * 3);
    WebPAnimEncoderAdd(encoder, frame < 2 ? &picture : nullptr, 100 * static_cast<int>(frame),
                       &config);
    WebPPictureFree(&picture);
  }
  WebPData data{};
  WebPAnimEncoderAssemble(encoder, &data);
  Bytes file(data.bytes, data.bytes + data.size);
  WebPDataClear(&data);
  WebPAnimEncoderDelete(encoder);
  return file;
}
#endif

#if FACESAT_TIFF
namespace {

void set_fields(TIFF* tiff, Size size, const TiffKind& kind) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, size.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, size.height);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind.photometric);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, kind.samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, kind.bits);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, kind.compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, kind.planar);
  if (kind.orientation > 0) TIFFSetField(tiff, TIFFTAG_ORIENTATION, kind.orientation);
  const bool is_rgb = kind.photometric == PHOTOMETRIC_RGB;
  if (kind.samples == (is_rgb ? 4 : 2)) {
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);
  }
  if (kind.photometric == PHOTOMETRIC_PALETTE) {
    std::array<std::vector<std::uint16_t>, 3> colours;
    std::mt19937 random(9);
    for (auto& channel : colours)
      for (int i = 0; i < 1 << kind.bits; ++i)
        channel.push_back(static_cast<std::uint16_t>(random()));
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0].data(), colours[1].data(), colours[2].data());
  }
  if (kind.tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kind.tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, kind.tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, kind.rows_per_strip);
  }
}

}  // namespace

Bytes encode_tiff(const std::filesystem::path& file, Size size, const TiffKind& kind) {
  TIFFSetErrorHandler(nullptr);
  TIFFSetWarningHandler(nullptr);
  TIFF* const tiff = TIFFOpen(file.c_str(), kind.mode);
  bool is_written = true;
  for (int page = 0; page < kind.pages; ++page) {
    set_fields(tiff, size, kind);
    if (page > 0) TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, kind.subfile_type_of_next);
    const bool is_tiled = kind.tile > 0;
    const auto parts = is_tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    Bytes pixels = noise(
        static_cast<std::size_t>(is_tiled ? TIFFTileSize(tiff) : TIFFStripSize(tiff)), 10 + page);
    for (std::uint32_t part = 0; part < parts; ++part) {
      const tmsize_t rest = is_tiled ? 0 : TIFFRawStripSize(tiff, part);
      const auto bytes = is_tiled || rest <= 0 ? static_cast<tmsize_t>(pixels.size()) : rest;
      is_written &= (is_tiled ? TIFFWriteEncodedTile(tiff, part, pixels.data(), bytes)
                              : TIFFWriteEncodedStrip(tiff, part, pixels.data(), bytes)) > 0;
    }
    is_written &= TIFFWriteDirectory(tiff) != 0;
  }
  TIFFClose(tiff);
  std::ifstream in(file, std::ios::binary);
  return is_written ? Bytes(std::istreambuf_iterator<char>(in), {}) : Bytes();
}
#endif

// ---- tar

namespace {

// Names in pax archives are UTF-8, and libarchive converts them from the current locale.
struct Utf8Locale {
  Utf8Locale() { std::setlocale(LC_CTYPE, "C.UTF-8"); }
  ~Utf8Locale() { std::setlocale(LC_CTYPE, "C"); }
};

unsigned type_of(TarMember::Kind kind) {
  using Kind = TarMember::Kind;
  switch (kind) {
    case Kind::folder:
      return AE_IFDIR;
    case Kind::symbolic_link:
      return AE_IFLNK;
    case Kind::pipe:
      return AE_IFIFO;
    case Kind::device:
      return AE_IFCHR;
    case Kind::file:
    case Kind::hard_link:
      break;
  }
  return AE_IFREG;
}

}  // namespace

void write_tar(const fs::path& file, const std::vector<TarMember>& members, TarFormat format) {
  const Utf8Locale locale;
  fs::create_directories(file.parent_path());
  const std::unique_ptr<::archive, decltype(&::archive_write_free)> tar(::archive_write_new(),
                                                                        ::archive_write_free);
  const auto check = [&](la_ssize_t status) {
    if (status < 0) throw std::runtime_error(::archive_error_string(tar.get()));
  };
  check(format == TarFormat::ustar ? ::archive_write_set_format_ustar(tar.get())
        : format == TarFormat::pax ? ::archive_write_set_format_pax(tar.get())
                                   : ::archive_write_set_format_gnutar(tar.get()));
  check(::archive_write_open_filename(tar.get(), file.c_str()));
  using Kind = TarMember::Kind;
  for (const TarMember& member : members) {
    const std::unique_ptr<::archive_entry, decltype(&::archive_entry_free)> entry(
        ::archive_entry_new(), ::archive_entry_free);
    const bool is_file = member.kind == Kind::file;
    ::archive_entry_set_pathname(entry.get(), member.name.c_str());
    ::archive_entry_set_perm(entry.get(), 0644);
    ::archive_entry_set_filetype(entry.get(), type_of(member.kind));
    if (member.kind == Kind::symbolic_link)
      ::archive_entry_set_symlink(entry.get(), member.bytes.c_str());
    if (member.kind == Kind::hard_link)
      ::archive_entry_set_hardlink(entry.get(), member.bytes.c_str());
    ::archive_entry_set_size(entry.get(),
                             is_file ? static_cast<la_int64_t>(member.bytes.size()) : 0);
    check(::archive_write_header(tar.get(), entry.get()));
    if (is_file) check(::archive_write_data(tar.get(), member.bytes.data(), member.bytes.size()));
  }
  check(::archive_write_close(tar.get()));
}

std::string tar_header(const std::string& name, std::uint64_t size, char type) {
  std::string header = name + std::string(512 - name.size(), '\0');
  const auto set = [&](std::size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  set(100, "0000644");
  set(124, fmt::format("{:011o} ", size));
  set(148, std::string(8, ' '));
  set(156, std::string(1, type));
  set(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  set(148, fmt::format("{:06o}", sum) + '\0');
  return header;
}

std::vector<TarMember> members_of_folder(const fs::path& folder) {
  std::vector<TarMember> members;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) {
      std::ifstream in(entry.path(), std::ios::binary);
      members.push_back(
          {fs::relative(entry.path(), folder).string(), {std::istreambuf_iterator<char>(in), {}}});
    }
  std::sort(members.begin(), members.end(),
            [](const TarMember& a, const TarMember& b) { return a.name < b.name; });
  return members;
}

}  // namespace facesat::test
