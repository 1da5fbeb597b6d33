// Files that a GPU decodes on their way into the program. Needs one.
#include "app/common/device_jpegs.hpp"

#include <cstring>
#include <future>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "library/detect/detector_pool.hpp"
#include "media/codec_formats.hpp"
#include "tests/kit/pictures.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::app {
namespace {

using Bytes = std::vector<unsigned char>;

const Image<Bgr> colours = test::coloured(test::drawn_faces({431, 133}).view());

// With an EXIF orientation in its first segment.
Bytes turned_file(int orientation) {
  Bytes file = to_jpeg(colours.view());
  const auto number = static_cast<unsigned char>(orientation);
  const Bytes exif{0xFF, 0xE1, 0, 34,   'E', 'x', 'i', 'f', 0, 0, 'M', 'M',    0, 42, 0, 0, 0, 8,
                   0,    1,    1, 0x12, 0,   3,   0,   0,   0, 1, 0,   number, 0, 0,  0, 0, 0, 0};
  file.insert(file.begin() + 2, exif.begin(), exif.end());
  return file;
}

void expect_equal(const Picture& picture, const Picture& expected) {
  EXPECT_EQ(picture.warning, expected.warning);
  EXPECT_EQ(picture.orientation, expected.orientation);
  ASSERT_EQ(picture.size(), expected.size());
  EXPECT_EQ(picture.luma.data == nullptr, expected.luma.data == nullptr);
  const auto have_equal_rows = [](const auto& a, const auto& b, int y) {
    return std::memcmp(a.row(y), b.row(y),
                       static_cast<std::size_t>(a.size.width) * sizeof *a.row(y)) == 0;
  };
  for (int y = 0; y < expected.size().height; ++y)
    EXPECT_TRUE(expected.luma.data ? have_equal_rows(picture.luma, expected.luma, y)
                                   : have_equal_rows(picture.pixels, expected.pixels, y));
}

std::vector<Bytes> files() {
  std::vector<Bytes> files{to_jpeg(colours.view()), turned_file(6), turned_file(2)};
  Bytes two = files[0];  // pictures
  two.insert(two.end(), files[0].begin(), files[0].end());
  files.push_back(two);
  files.emplace_back(files[0].begin(), files[0].begin() + 3000);
  return files;
}

// Then it is left to libjpeg-turbo.
bool is_damaged(const Bytes& file) {
  return file[file.size() - 1] != 0xD9;
}

TEST(JpegsOnDevice, AreThoseOfLibjpegTurbo) {
  for (const Reading reading : {Reading::colour, Reading::luma})
    for (const Bytes& file : files()) {
      const Picture expected = read_jpeg(file, {}, reading);
      const JpegsOnDevice there(0);
      for (int run = 0; run < 2; ++run) expect_equal(read_jpeg(file, {}, reading), expected);
      EXPECT_EQ(there.decoded(), is_damaged(file) ? 0 : 2);
    }
}

TEST(JpegsOnDevice, AreDecodedByManyThreads) {
  const std::vector<Bytes> all = files();
  const Picture expected = read_jpeg(all[1]);
  const JpegsOnDevice there(0);
  std::vector<std::future<void>> threads;
  for (int t = 0; t < 8; ++t)
    threads.push_back(std::async(std::launch::async, [&] {
      for (int i = 0; i < 20; ++i) expect_equal(read_jpeg(all[1]), expected);
    }));
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(there.decoded(), 160);
}

// What a thread of `facesat detect` does.
TEST(JpegsOnDevice, AreSearchedThere) {
  const Detector detector("frontalface_default", {}, {.choice = BackendChoice::cuda});
  for (const bool luma : {false, true})
    for (const Bytes& file : files()) {
      const Picture expected = read_jpeg(file, {}, luma ? Reading::luma : Reading::colour);
      const std::vector<Face> faces = detector.detect(image_view(expected)).faces;
      const std::optional<DeviceJpeg> jpeg = read_device_jpeg(file, default_max_pixels);
      EXPECT_EQ(jpeg.has_value(), !is_damaged(file));
      if (!jpeg) continue;
      int kept = 0;
      const auto keep = [&](const ImageView& decoded) {
        ++kept;
        expect_equal(downloaded(decoded, *jpeg), expected);
      };
      const EncodedImage image{jpeg->stream, luma, jpeg->orientation, {}, keep};
      EXPECT_EQ(test::boxes(detector.pool().detect_encoded(image, {}).faces), test::boxes(faces));
      EXPECT_EQ(kept, 1);
      EXPECT_FALSE(faces.empty() && jpeg->orientation != 6);
    }
}

}  // namespace
}  // namespace facesat::app
