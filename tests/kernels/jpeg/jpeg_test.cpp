// JPEGs decoded by the kernels, beside the pixels of libjpeg-turbo.
#include <algorithm>
#include <csetjmp>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>

#include "core/orientation.hpp"
#include "kernels/jpeg/decode.hpp"
#include "tests/kit/device_memory.hpp"
#include "tests/kit/printers.hpp"

namespace facesat::test {
namespace {

using gpu::JpegHeader;
using gpu::JpegStream;
using gpu::JpegTask;
using Bytes = std::vector<unsigned char>;

constexpr std::size_t most_pixels = 1 << 24;

// ---- files, and what libjpeg-turbo makes of them

enum class Content { noise, waves, flat, page };  // page: dark dots on white

struct Kind {
  Size size;
  int channels = 3, across = 1, down = 1;  // luma samples per chroma sample
  int quality = 75;
  int restart_mcus = 0;
  bool is_optimised = false, is_progressive = false;
  Content content = Content::waves;
  J_COLOR_SPACE stored_as = JCS_YCbCr;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.size.width << "x" << kind.size.height << ", " << kind.channels << " channels, "
       << kind.across << "x" << kind.down << ", quality " << kind.quality << ", restart "
       << kind.restart_mcus << (kind.is_optimised ? ", optimised" : "") << ", content "
       << static_cast<int>(kind.content);
}

Bytes pixels_of(const Kind& kind) {
  std::mt19937 random(static_cast<unsigned>(kind.size.width * 31 + kind.size.height));
  Bytes pixels(kind.size.area() * static_cast<std::size_t>(kind.channels), 90);
  std::size_t i = 0;
  for (int y = 0; y < kind.size.height; ++y)
    for (int x = 0; x < kind.size.width; ++x)
      for (int c = 0; c < kind.channels; ++c, ++i) {
        if (kind.content == Content::noise) pixels[i] = static_cast<unsigned char>(random());
        if (kind.content == Content::page)
          pixels[i] = y < 300 && x / 4 * 37 % 101 == 5 && y / 4 * 53 % 67 == 9 ? 20 : 255;
        if (kind.content == Content::waves)
          pixels[i] = static_cast<unsigned char>((x * (c + 2) + y * y / 9 + random() % 24) % 256);
      }
  return pixels;
}

Bytes encode(const Kind& kind) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long count = 0;
  jpeg_mem_dest(&info, &data, &count);
  info.image_width = static_cast<JDIMENSION>(kind.size.width);
  info.image_height = static_cast<JDIMENSION>(kind.size.height);
  info.input_components = kind.channels;
  info.in_color_space = kind.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (kind.channels == 3) jpeg_set_colorspace(&info, kind.stored_as);
  jpeg_set_quality(&info, kind.quality, TRUE);
  info.comp_info[0].h_samp_factor = kind.across;
  info.comp_info[0].v_samp_factor = kind.down;
  info.restart_interval = static_cast<unsigned>(kind.restart_mcus);
  info.optimize_coding = kind.is_optimised;
  if (kind.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  Bytes pixels = pixels_of(kind);
  for (int y = 0; y < kind.size.height; ++y) {
    unsigned char* row = &pixels[static_cast<std::size_t>(y) * kind.size.width *
                                 static_cast<unsigned>(kind.channels)];
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  Bytes file(data, data + count);
  std::free(data);
  return file;
}

struct Decoded {
  Bytes pixels;
  bool has_warning = false;
};

// Returns false if libjpeg-turbo gives up.
bool decode_by_libjpeg(const Bytes& file, bool in_colour, Decoded& decoded) {
  struct Errors {
    jpeg_error_mgr manager;
    std::jmp_buf failed;
  } errors;
  jpeg_decompress_struct info{};
  info.err = jpeg_std_error(&errors.manager);
  info.client_data = &errors;
  errors.manager.error_exit = [](j_common_ptr of) {
    std::longjmp(static_cast<Errors*>(of->client_data)->failed, 1);
  };
  errors.manager.output_message = [](j_common_ptr) {};
  if (setjmp(errors.failed) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), file.size());
  jpeg_read_header(&info, TRUE);
  info.out_color_space = in_colour ? JCS_EXT_BGR : JCS_GRAYSCALE;
  jpeg_start_decompress(&info);
  const std::size_t row_bytes = std::size_t{info.output_width} * (in_colour ? 3 : 1);
  decoded.pixels.resize(row_bytes * info.output_height);
  while (info.output_scanline < info.output_height) {
    unsigned char* row = &decoded.pixels[row_bytes * info.output_scanline];
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  decoded.has_warning = errors.manager.num_warnings > 0;
  jpeg_destroy_decompress(&info);
  return true;
}

std::optional<Decoded> expected_of(const Bytes& file, bool in_colour) {
  Decoded decoded;
  if (!decode_by_libjpeg(file, in_colour, decoded)) return std::nullopt;
  return decoded;
}

// ---- the same by the kernels

template <class T>
std::vector<T> poisoned(std::size_t count) {
  std::vector<T> memory(std::max<std::size_t>(count, 1));
  std::memset(static_cast<void*>(memory.data()), 0xA5, memory.size() * sizeof(T));
  return memory;
}

// The blocks of threads that find the beginnings of pieces.
int blocks_of(const JpegHeader& header) {
  const int own_pieces = std::min(512 / header.guesses, 128) - 8;
  return (header.piece_count + own_pieces - 1) / own_pieces;
}

// Is each block entered in the state in which the one before it is left?
void expect_entries(const std::vector<std::uint8_t>& entries,
                    const std::vector<std::uint8_t>& exits, int blocks) {
  constexpr std::size_t states = 128;
  std::uint8_t state = 0;
  for (std::size_t block = 0; block < static_cast<std::size_t>(blocks); ++block) {
    ASSERT_EQ(entries[block], state) << "block " << block;
    state = exits[block * states + state];
  }
}

// Decodes twice with the same memory. Nothing if the kernels have failed.
template <class Pixel>
std::optional<Bytes> decode(const JpegStream& stream, int orientation) {
  const JpegHeader& header = stream.header;
  const auto pieces = static_cast<std::size_t>(header.piece_count);
  const std::size_t samples = static_cast<std::size_t>(header.block_count()) * 64;
  DeviceArray<unsigned char> block(Bytes(stream.block.begin(), stream.block.end()));
  DeviceArray<gpu::JpegPlace> begins(poisoned<gpu::JpegPlace>(pieces)),
      ends(poisoned<gpu::JpegPlace>(pieces));
  DeviceArray<gpu::JpegSums> sums(poisoned<gpu::JpegSums>(pieces)),
      groups(poisoned<gpu::JpegSums>(pieces / gpu::pieces_of_group + 1));
  const std::size_t decoders = pieces * static_cast<std::size_t>(header.guesses);
  DeviceArray<gpu::JpegPlace> guess_ends(poisoned<gpu::JpegPlace>(decoders));
  DeviceArray<std::uint8_t> links(poisoned<std::uint8_t>(decoders)),
      exits(poisoned<std::uint8_t>(gpu::exits_of(pieces))),
      entries(poisoned<std::uint8_t>(gpu::entries_of(pieces)));
  DeviceArray<std::int16_t> coefficients(poisoned<std::int16_t>(samples));
  DeviceArray<std::uint8_t> planes(poisoned<std::uint8_t>(samples));
  DeviceArray<unsigned> has_failed({0});
  const JpegTask task{
      .header = reinterpret_cast<JpegHeader*>(block.data()),
      .segments = reinterpret_cast<gpu::JpegSegment*>(block.data() + stream.segments_at),
      .words = reinterpret_cast<std::uint32_t*>(block.data() + stream.bits_at),
      .guess_ends = guess_ends.data(),
      .links = links.data(),
      .exits = exits.data(),
      .entries = entries.data(),
      .begins = begins.data(),
      .ends = ends.data(),
      .sums = sums.data(),
      .groups = groups.data(),
      .coefficients = coefficients.data(),
      .samples = planes.data(),
      .has_failed = has_failed.data()};
  std::optional<Bytes> result;
  for (int run = 0; run < 2; ++run) {
    DeviceArray<Pixel> pixels(poisoned<Pixel>(header.size.area()));
    has_failed.upload({0});
    const Size size = upright_size(header.size, orientation);
    enqueue_jpeg(task, header, orientation, View<Pixel>{pixels.data(), size, size.width},
                 test_stream());
    const unsigned failed = has_failed.download()[0];
    EXPECT_LE(failed, 1u);
    expect_entries(entries.download(), exits.download(), blocks_of(header));
    std::optional<Bytes> now;
    if (failed == 0) {
      const std::vector<Pixel> all = pixels.download();
      const auto* const bytes = reinterpret_cast<const unsigned char*>(all.data());
      now.emplace(bytes, bytes + header.size.area() * sizeof(Pixel));
    }
    if (run == 1) {
      EXPECT_TRUE(now == result) << "the second run differs";
    }
    result = now;
  }
  return result;
}

enum class Outcome { equal, refused, failed };

template <class Pixel>
Bytes turned(const Bytes& from, Size size, int orientation) {
  const Size upright = upright_size(size, orientation);
  Bytes to(from.size());
  for (int y = 0; y < upright.height; ++y)
    for (int x = 0; x < upright.width; ++x) {
      const PixelPlace place = place_before(x, y, upright, orientation);
      const auto index = [](int row, int width, int column) {
        return (static_cast<std::size_t>(row) * static_cast<std::size_t>(width) +
                static_cast<std::size_t>(column)) *
               sizeof(Pixel);
      };
      std::memcpy(&to[index(y, upright.width, x)], &from[index(place.y, size.width, place.x)],
                  sizeof(Pixel));
    }
  return to;
}

// Fails if pixels differ, or if libjpeg-turbo has something to say about the file.
template <class Pixel>
Outcome compare(const Bytes& file, int orientation = 0) {
  const auto read = gpu::read_jpeg_stream(file, most_pixels);
  if (!std::holds_alternative<JpegStream>(read)) return Outcome::refused;
  const std::optional<Bytes> pixels = decode<Pixel>(std::get<JpegStream>(read), orientation);
  if (!pixels) return Outcome::failed;
  std::optional<Decoded> expected = expected_of(file, sizeof(Pixel) == 3);
  if (!expected) {
    ADD_FAILURE() << "libjpeg-turbo does not decode this file";
    return Outcome::equal;
  }
  EXPECT_FALSE(expected->has_warning);
  expected->pixels =
      turned<Pixel>(expected->pixels, std::get<JpegStream>(read).header.size, orientation);
  const auto differ = std::ranges::mismatch(*pixels, expected->pixels);
  EXPECT_TRUE(*pixels == expected->pixels)
      << "byte " << differ.in1 - pixels->begin() << ": " << int{*differ.in1} << " instead of "
      << int{*differ.in2};
  return Outcome::equal;
}

void expect_equal(const Kind& kind) {
  SCOPED_TRACE(testing::PrintToString(kind));
  const Bytes file = encode(kind);
  EXPECT_EQ(compare<Bgr>(file), Outcome::equal);
  EXPECT_EQ(compare<std::uint8_t>(file), Outcome::equal);
}

struct Subsampling {
  int channels, across, down;
};
constexpr Subsampling subsamplings[] = {{1, 1, 1}, {1, 2, 2}, {3, 1, 1}, {3, 2, 1},
                                        {3, 2, 2}, {3, 1, 2}, {3, 4, 1}};

// ---- tests

TEST(Jpeg, HasThePixelsOfLibjpegTurbo) {
  under_one_schedule([] {
    for (const auto& [channels, across, down] : subsamplings)
      for (const Size size : {Size{1, 1},
                              {2, 3},
                              {4, 4},
                              {5, 2},
                              {7, 9},
                              {8, 8},
                              {16, 17},
                              {33, 16},
                              {35, 50},
                              {121, 67}})
        expect_equal({.size = size, .channels = channels, .across = across, .down = down});
  });
}

TEST(Jpeg, HasTheirPixelsAtEveryQuality) {
  under_one_schedule([] {
    for (const auto& [channels, across, down] : subsamplings)
      for (const int quality : {1, 5, 20, 50, 90, 97, 100})
        for (const Content content : {Content::noise, Content::waves})
          expect_equal({.size = {61, 43},
                        .channels = channels,
                        .across = across,
                        .down = down,
                        .quality = quality,
                        .is_optimised = quality % 2 == 0,
                        .content = content});
  });
}

TEST(Jpeg, BeginsAnewAtRestartMarkers) {
  under_one_schedule([] {
    for (const auto& [channels, across, down] : subsamplings)
      for (const int restart_mcus : {1, 2, 7, 1000})
        for (const Content content : {Content::waves, Content::flat})
          expect_equal({.size = {75, 90},
                        .channels = channels,
                        .across = across,
                        .down = down,
                        .restart_mcus = restart_mcus,
                        .content = content});
  });
}

TEST(Jpeg, IsTurnedUpright) {
  under_one_schedule([] {
    for (int orientation = 0; orientation <= 8; ++orientation)
      for (const int channels : {1, 3}) {
        SCOPED_TRACE(orientation);
        const Bytes file = encode({.size = {45, 26}, .channels = channels, .across = 2, .down = 2});
        EXPECT_EQ(compare<Bgr>(file, orientation), Outcome::equal);
        EXPECT_EQ(compare<std::uint8_t>(file, orientation), Outcome::equal);
      }
  });
}

// Everything that encoders vary. Of noise at the highest qualities, blocks are longer than pieces,
// and their decoders may not find each other: that may fail, for libjpeg-turbo to do it.
TEST(Jpeg, HasTheirPixelsWhateverTheEncoderDoes) {
  std::mt19937 random(5);
  const auto below = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  under_one_schedule([&] {
    for (int i = 0; i < (on_gpu ? 2000 : 40); ++i) {
      const auto& [channels, across, down] = subsamplings[i % std::size(subsamplings)];
      const Kind kind{.size = {1 + below(150), 1 + below(110)},
                      .channels = channels,
                      .across = across,
                      .down = down,
                      .quality = 1 + below(100),
                      .restart_mcus = below(3) == 0 ? 1 + below(20) : 0,
                      .is_optimised = below(2) == 0,
                      .content = static_cast<Content>(below(4))};
      SCOPED_TRACE(testing::PrintToString(kind));
      const Bytes file = encode(kind);
      const int orientation = below(9);
      const Outcome outcome = compare<Bgr>(file, orientation);
      const bool may_fail = kind.content == Content::noise && kind.quality > 95;
      EXPECT_TRUE(outcome == Outcome::equal || (may_fail && outcome == Outcome::failed));
    }
  });
}

// The frames of most cameras.
TEST(Jpeg, MayLackTheUsualHuffmanTables) {
  under_one_schedule([] {
    for (const int channels : {1, 3})
      for (const Content content : {Content::noise, Content::waves}) {
        Bytes file =
            encode({.size = {90, 70}, .channels = channels, .across = 2, .content = content});
        int tables = 0;
        for (std::size_t at = 2; file[at + 1] != 0xDA;) {  // up to the scan
          const auto length = static_cast<std::ptrdiff_t>(2 + (file[at + 2] << 8 | file[at + 3]));
          const auto from = file.begin() + static_cast<std::ptrdiff_t>(at);
          if (file[at + 1] == 0xC4) {
            file.erase(from, from + length);
            ++tables;
          } else {
            at += static_cast<std::size_t>(length);
          }
        }
        EXPECT_EQ(tables, channels == 1 ? 2 : 4);
        EXPECT_EQ(compare<Bgr>(file), Outcome::equal);
      }
  });
}

// More pieces than a block of threads has; pieces that begin in the middle of a block.
TEST(Jpeg, JoinsManyPieces) {
  under_all_schedules([] {
    expect_equal({.size = {200, 150}, .across = 2, .down = 2, .quality = 98});
  });
  under_one_schedule([] {
    expect_equal({.size = {160, 160}, .quality = 100, .content = Content::noise});
  });
}

// Here, a piece that begins at a wrong place never finds the right one.
TEST(Jpeg, JoinsPiecesOfOneColour) {
  under_one_schedule([] {
    expect_equal({.size = {1000, 600}, .across = 2, .down = 2, .content = Content::flat});
  });
}

// Here, codes repeat, and decoders may go round in a cycle of wrong ones.
TEST(Jpeg, JoinsPiecesOfPages) {
  under_one_schedule([] {
    for (const auto& [channels, across, down] : {Subsampling{1, 1, 1}, Subsampling{3, 2, 2}}) {
      SCOPED_TRACE(channels);
      const Bytes file = encode({.size = {1000, 1400},
                                 .channels = channels,
                                 .across = across,
                                 .down = down,
                                 .quality = 90,
                                 .is_optimised = true,
                                 .content = Content::page});
      EXPECT_EQ(compare<std::uint8_t>(file), Outcome::equal);
    }
  });
}

std::size_t position_of(const Bytes& file, unsigned char marker) {
  const unsigned char both[] = {0xFF, marker};
  return static_cast<std::size_t>(std::ranges::search(file, both).begin() - file.begin());
}

// Quantisers of zero, and so large ones that numbers of 16 bits wrap around.
// Several rows of blocks and, on a GPU, several times as many as are entered together.
TEST(Jpeg, EntersManyBlocksOfPieces) {
  const Size size = on_gpu ? Size{4000, 3000} : Size{800, 600};
  const Bytes file = encode({.size = size, .across = 2, .down = 2, .quality = 30});
  const auto read = gpu::read_jpeg_stream(file, most_pixels);
  EXPECT_GT(blocks_of(std::get<JpegStream>(read).header), on_gpu ? 600 : 35);
  under_one_schedule([&] { EXPECT_EQ(compare<std::uint8_t>(file), Outcome::equal); });
}

TEST(Jpeg, HasTheirPixelsWithAnyQuantisers) {
  std::mt19937 random(2);
  under_one_schedule([&] {
    for (int i = 0; i < 60; ++i) {
      SCOPED_TRACE(i);
      Bytes file = encode({.size = {40, 24},
                           .channels = i % 2 == 0 ? 1 : 3,
                           .quality = 100,
                           .content = i % 3 == 0 ? Content::flat : Content::noise});
      const std::size_t table = position_of(file, 0xDB) + 5;
      for (std::size_t k = 0; k < 64; ++k)
        file[table + k] = static_cast<unsigned char>(i % 5 == 0          ? 255
                                                     : random() % 3 == 0 ? 0
                                                                         : random());
      EXPECT_EQ(compare<Bgr>(file), Outcome::equal);
    }
  });
}

// The last piece of what is left has only a few bytes.
TEST(Jpeg, FailsWhereTheEndIsMissing) {
  under_one_schedule([] {
    for (const auto& [channels, across, down] : subsamplings) {
      const Bytes file = encode(
          {.size = {90, 70}, .channels = channels, .across = across, .down = down, .quality = 85});
      const std::size_t begin = position_of(file, 0xDA) + 2 + file[position_of(file, 0xDA) + 3];
      for (const std::size_t bytes : {127, 128, 129, 130, 131, 257, 258, 259, 385, 386}) {
        SCOPED_TRACE(bytes);
        if (begin + bytes + 40 > file.size()) continue;
        Bytes cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(begin + bytes));
        cut.insert(cut.end(), {0xFF, 0xD9});
        EXPECT_NE(compare<Bgr>(cut), Outcome::equal);
      }
    }
  });
}

// A few bits of the scan are wrong, or a part is missing.
TEST(Jpeg, IsEqualOrFailsWhereBitsAreDamaged) {
  std::mt19937 random(1);
  int equal = 0, failed = 0, refused = 0;
  under_one_schedule([&] {
    for (int i = 0; i < (on_gpu ? 2000 : 120); ++i) {
      SCOPED_TRACE(i);
      const auto& [channels, across, down] = subsamplings[i % std::size(subsamplings)];
      Bytes file = encode({.size = {40 + i % 50, 30 + i % 31},
                           .channels = channels,
                           .across = across,
                           .down = down,
                           .quality = 30 + i % 70,
                           .restart_mcus = i % 3 == 0 ? 4 : 0,
                           .is_optimised = i % 2 == 0});
      const std::size_t begin = file.size() / 3;
      for (unsigned change = 0; change <= random() % 3; ++change)
        file[begin + random() % (file.size() - begin)] ^=
            static_cast<unsigned char>(1u << random() % 8);
      if (i % 10 == 0) file.erase(file.end() - 3 - static_cast<int>(random() % 40), file.end() - 2);
      const Outcome outcome = compare<Bgr>(file);
      equal += outcome == Outcome::equal;
      failed += outcome == Outcome::failed;
      refused += outcome == Outcome::refused;
    }
  });
  EXPECT_GT(equal, 4);
  EXPECT_GT(failed, 4);
  EXPECT_GT(refused, 4);
}

std::string why_not(const Bytes& file) {
  const auto read = gpu::read_jpeg_stream(file, most_pixels);
  return std::holds_alternative<JpegStream>(read) ? "" : std::get<std::string>(read);
}

TEST(Jpeg, SaysWhatTheKernelsCannotDecode) {
  const Size size{40, 30};
  EXPECT_EQ(why_not(encode({.size = size})), "");
  EXPECT_EQ(why_not(encode({.size = size, .is_progressive = true})),
            "it is of a kind other than baseline and extended sequential");
  EXPECT_EQ(why_not(encode({.size = size, .across = 1, .down = 4})), "its subsampling is rare");
  EXPECT_EQ(why_not(encode({.size = size, .stored_as = JCS_RGB})), "it is neither grey nor YCbCr");
  EXPECT_EQ(why_not({}), "it is not a JPEG");
  const auto read = gpu::read_jpeg_stream(encode({.size = size}), size.area() - 1);
  EXPECT_EQ(std::get<std::string>(read), "it is too large");
}

// Nothing is read beyond the end, wherever a file ends; nor where any byte is another one.
TEST(Jpeg, RefusesWhatIsIncomplete) {
  const Bytes file = encode({.size = {40, 30}, .across = 2, .down = 2, .restart_mcus = 2});
  for (std::size_t count = 0; count < file.size(); ++count)
    EXPECT_NE(why_not(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(count))), "")
        << count;
  for (std::size_t i = 0; i < file.size(); ++i)
    for (const unsigned char byte : {0x00, 0x01, 0x7F, 0xFF}) {
      Bytes other = file;
      other[i] = byte;
      static_cast<void>(why_not(other));
    }
}

TEST(Jpeg, EndsWhereThePictureEnds) {
  Bytes file = encode({.size = {20, 20}});
  const std::size_t count = file.size();
  file.resize(count + 50);
  EXPECT_EQ(std::get<JpegStream>(gpu::read_jpeg_stream(file, most_pixels)).end, count);
}

}  // namespace
}  // namespace facesat::test
