#include "tests/kit/decoded.hpp"

#include <algorithm>
#include <cstring>

#if FACESAT_ORACLE
#include <opencv2/imgcodecs.hpp>
#endif

#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::test {

std::optional<Picture> CodecTest::imread(const Bytes& bytes, Reading reading) const {
#if FACESAT_ORACLE
  const std::filesystem::path file = folder / "picture";
  write_file(file, bytes);
  const bool luma = reading == Reading::luma;
  cv::Mat image;
  try {
    image = cv::imread(file.string(), luma ? cv::IMREAD_GRAYSCALE : cv::IMREAD_COLOR);
  } catch (const cv::Exception&) {
  }
  if (image.empty()) return std::nullopt;
  const auto owner = std::make_shared<cv::Mat>(image);
  const Size size{image.cols, image.rows};
  const auto pitch = static_cast<std::ptrdiff_t>(image.step / image.elemSize());
  if (luma) return Picture{{}, owner, {}, {image.data, size, pitch}};
  return Picture{{reinterpret_cast<const Bgr*>(image.data), size, pitch}, owner, {}, {}};
#else
  (void)bytes, (void)reading;
  return std::nullopt;
#endif
}

namespace {

// Pixels that need no decoding are those of the decoded picture.
void expect_same_in_file(const Bytes& bytes, const std::optional<Picture>& picture) {
  std::optional<PixelsInFile> found;
  try {
    found = pixels_in_file(InputFile(bytes));
    if (!found) return;
  } catch (const InputError& error) {
    EXPECT_EQ(error.kind + ": " + error.what(), refusal(bytes));
    return;
  }
  ASSERT_TRUE(picture);
  EXPECT_EQ(found->warning, picture->warning);
  const ImageView& image = found->pixels;
  ASSERT_EQ(image.size, picture->size());
  const int bytes_each = bytes_per_pixel(image.format), blue = bytes_each - 1;
  int wrong = 0;
  for (int y = 0; y < image.size.height; ++y)
    for (int x = 0; x < image.size.width; ++x) {
      const auto* const pixel =
          static_cast<const std::uint8_t*>(image.pixels) + y * image.pitch + x * bytes_each;
      const auto [b, g, r] = picture->pixels.row(y)[x];
      wrong += pixel[0] != r || pixel[blue / 2] != g || pixel[blue] != b;
    }
  EXPECT_EQ(wrong, 0);
}

}  // namespace

std::optional<Picture> CodecTest::compare(const Bytes& bytes, Reading reading) const {
  std::optional<Picture> picture = try_read(bytes, reading);
  expect_same_in_file(bytes, picture);
  const std::optional<Picture> expected = imread(bytes, reading);
  constexpr int longest = 1 << 20;  // side that OpenCV reads
  const bool is_long = picture && std::max(picture->size().width, picture->size().height) > longest;
  EXPECT_EQ(picture.has_value() && !is_long, expected.has_value());
  if (picture && expected) expect_same(picture, expected);
  return picture;
}

std::optional<Picture> try_read(std::span<const unsigned char> file, Reading reading) {
  try {
    return read_picture(InputFile(file), {}, reading);
  } catch (const InputError& error) {
    EXPECT_GT(std::string(error.what()).size(), 15u);
    return std::nullopt;
  }
}

std::string refusal(const Bytes& file, const DecodeLimits& limits) {
  try {
    read_picture(InputFile(file), limits);
    return "read";
  } catch (const InputError& error) {
    return error.kind + ": " + error.what();
  }
}

std::string warning_of(const Bytes& file) {
  const std::optional<Picture> picture = try_read(file);
  return picture ? picture->warning : "not decoded";
}

void expect_same(const std::optional<Picture>& picture, const std::optional<Picture>& expected) {
  ASSERT_TRUE(picture);
  ASSERT_TRUE(expected);
  const Size size = picture->size();
  ASSERT_EQ(size, expected->size());
  ASSERT_EQ(picture->luma.data == nullptr, expected->luma.data == nullptr);
  for (int y = 0; y < size.height; ++y)
    ASSERT_EQ(picture->luma.data
                  ? std::memcmp(picture->luma.row(y), expected->luma.row(y), size.width)
                  : std::memcmp(picture->pixels.row(y), expected->pixels.row(y),
                                sizeof(Bgr) * size.width),
              0)
        << "row " << y;
}

}  // namespace facesat::test
