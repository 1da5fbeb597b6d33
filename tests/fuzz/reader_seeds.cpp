// Writes the seed corpus for fuzzing the readers: facesat_reader_seeds CORPUS.
#include <array>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <archive.h>
#include <archive_entry.h>
#include <jpeglib.h>
#include <png.h>
#if FACESAT_TIFF
#include <tiffio.h>
#endif
#if FACESAT_WEBP
#include <webp/encode.h>
#endif

namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

constexpr int width = 16, height = 8;
// EXIF data with one entry: the picture is to be rotated by 90 degrees.
constexpr std::string_view exif = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"sv;

std::array<unsigned char, 3 * width * height> make_pixels() {
  std::array<unsigned char, 3 * width * height> pixels{};
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(7 * i);
  return pixels;
}

std::string make_jpeg(bool progressive) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &data, &count);
  info.image_width = width;
  info.image_height = height;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                    static_cast<unsigned>(exif.size()));
  auto pixels = make_pixels();
  for (int y = 0; y < height; ++y) {
    JSAMPROW row = pixels.data() + 3 * width * y;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<const char*>(data), count);
  std::free(data);
  return file;
}

std::string make_png() {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = PNG_FORMAT_RGB;
  std::string file(1 << 16, '\0');
  png_alloc_size_t size = file.size();
  const auto pixels = make_pixels();
  png_image_write_to_memory(&image, file.data(), &size, 0, pixels.data(), 0, nullptr);
  file.resize(size);
  return file;
}

// `kind`: '1' to '6'. The numbers are those of a text; as bytes they are as good as others.
std::string make_pnm(char kind) {
  std::string file = {'P', kind, '\n'};
  file += "# a comment\n16 8\n";
  if (kind != '1' && kind != '4') file += "200\n";
  for (std::size_t i = 0; i < make_pixels().size(); ++i)
    file += kind == '1' ? std::to_string(i % 2) : std::to_string(i) + "\n";
  return file;
}

// `compression`: 0, 1 (runs of bytes) or 2 (of half bytes), for which `data` are the pixels.
std::string make_bmp(int bits, int compression, std::string data) {
  const auto number = [](std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
    return text;
  };
  const auto pixels = make_pixels();
  const std::size_t colours = bits <= 8 ? std::size_t{4} << bits : 0;
  if (data.empty())
    for (int i = 0; i < width * bits / 8 * height; ++i)
      data += static_cast<char>(pixels[static_cast<std::size_t>(i) % pixels.size()]);
  std::string palette;
  for (std::size_t i = 0; i < colours; ++i) palette += static_cast<char>(pixels[i % pixels.size()]);
  const std::size_t begin = 54 + colours;
  return "BM" + number(begin + data.size(), 8) + number(begin, 4) + number(40, 4) +
         number(width, 4) + number(height, 4) + number(1, 2) + number(bits, 2) +
         number(compression, 4) + number(0, 12) + number(0, 8) + palette + data;
}

#if FACESAT_TIFF
void write_tiff(const std::filesystem::path& file, int photometric, int samples, int bits,
                int compression, bool is_tiled) {
  TIFF* const tiff = TIFFOpen(file.c_str(), "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  TIFFSetField(tiff, TIFFTAG_ORIENTATION, 6);
  if (is_tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height);
  }
  std::string pixels(3 * 16 * 16, '\x5A');
  if (is_tiled)
    TIFFWriteEncodedTile(tiff, 0, pixels.data(), TIFFTileSize(tiff));
  else
    TIFFWriteEncodedStrip(tiff, 0, pixels.data(), TIFFStripSize(tiff));
  TIFFClose(tiff);
}
#endif

#if FACESAT_WEBP
std::string make_webp(bool lossless) {
  const auto pixels = make_pixels();
  std::uint8_t* data = nullptr;
  const std::size_t count =
      lossless ? WebPEncodeLosslessBGR(pixels.data(), width, height, 3 * width, &data)
               : WebPEncodeBGR(pixels.data(), width, height, 3 * width, 50, &data);
  std::string file(reinterpret_cast<const char*>(data), count);
  WebPFree(data);
  return file;
}
#endif

std::string make_archive() {
  std::string file(1 << 16, '\0');
  std::size_t used = 0;
  ::archive* const archive = ::archive_write_new();
  ::archive_write_set_format_pax(archive);
  ::archive_write_open_memory(archive, file.data(), file.size(), &used);
  ::archive_entry* const entry = ::archive_entry_new();
  for (const std::string& name : {std::string("./a.jpg"), std::string(200, 'n') + ".png"}) {
    ::archive_entry_clear(entry);
    ::archive_entry_set_pathname(entry, name.c_str());
    ::archive_entry_set_filetype(entry, AE_IFREG);
    ::archive_entry_set_size(entry, 8);
    ::archive_write_header(archive, entry);
    ::archive_write_data(archive, "a member", 8);
  }
  ::archive_entry_free(entry);
  ::archive_write_close(archive);
  ::archive_write_free(archive);
  file.resize(used);
  return file;
}

constexpr std::string_view face =
    R"({"x":1,"y":2,"width":30,"height":30,"neighbors":5,"score":3.5})";

std::string make_records() {
  const std::string faces = "\"width\":64,\"height\":48,\"faces\":[" + std::string(face) + "]";
  return "{\"image\":\"a.jpg\"," + faces + "}\n" +
         "{\"image\":\"v.avi\",\"frame\":0,\"time\":0.0," + faces + ",\"warning\":\"cut off\"}\n" +
         R"({"image":"b.jpg","error":{"kind":"decode","message":"it is empty"}})" + "\n";
}

void write(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: facesat_reader_seeds CORPUS\n";
    return 2;
  }
  const std::filesystem::path corpus = arguments[1];
  std::filesystem::create_directories(corpus);
  write(corpus / "baseline.jpg", make_jpeg(false));
  write(corpus / "progressive.jpg", make_jpeg(true));
  write(corpus / "two.jpg", make_jpeg(false) + make_jpeg(true));
  write(corpus / "plain.png", make_png());
  for (const char kind : "123456"sv)
    write(corpus / (std::string("p") + kind + ".pnm"), make_pnm(kind));
  for (const int bits : {1, 4, 8, 16, 24, 32})
    write(corpus / (std::to_string(bits) + ".bmp"), make_bmp(bits, 0, ""));
  write(corpus / "rle8.bmp", make_bmp(8, 1, "\x10\1\0\0\3\2\0\3\1\2\3\0\0\2\4\1\0\1"s));
  write(corpus / "rle4.bmp", make_bmp(4, 2, "\x10\x12\0\0\3\x21\0\5\1\2\3\0\0\2\4\1\0\1"s));
#if FACESAT_TIFF
  write_tiff(corpus / "plain.tif", PHOTOMETRIC_RGB, 3, 8, COMPRESSION_NONE, false);
  write_tiff(corpus / "wide.tif", PHOTOMETRIC_MINISBLACK, 1, 16, COMPRESSION_ADOBE_DEFLATE, false);
  write_tiff(corpus / "tile.tif", PHOTOMETRIC_RGB, 3, 8, COMPRESSION_LZW, true);
  write_tiff(corpus / "fax.tif", PHOTOMETRIC_MINISWHITE, 1, 1, COMPRESSION_CCITTFAX4, false);
  write_tiff(corpus / "ink.tif", PHOTOMETRIC_SEPARATED, 4, 8, COMPRESSION_PACKBITS, false);
#endif
#if FACESAT_WEBP
  write(corpus / "lossy.webp", make_webp(false));
  write(corpus / "lossless.webp", make_webp(true));
#endif
  write(corpus / "members.tar", make_archive());
  write(corpus / "exif", exif.substr(6));
  write(corpus / "video.mkv", "\x1A\x45\xDF\xA3\x82xx\x18\x53\x80\x67\x01\0\0\0\0\1\0\0"sv);
  write(corpus / "records", make_records());
  write(corpus / "record", make_records().substr(0, make_records().find('\n')));
  write(corpus / "rows", "image,x,y,w,h,neighbors,score\n\"a,\"\"b\n.jpg\",1,2,30,30,5,3.5\n");
  write(corpus / "journal",
        "facesat journal 1\ngeneration\t1\noption\t--scale-factor\t1.1\n\n"
        "120\t17\t0\t-\tdone\tlast\t99\t7\tpath /a\\tb.jpg\n"
        "240\t18\t1\t3\tfailed\tmore\t0\t0\tname v.avi\ncomplete\n");
}
