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

namespace {

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
  write(corpus / "plain.png", make_png());
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
