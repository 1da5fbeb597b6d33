#include "datasets/vec_file.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "media/input_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;
using Bytes = std::span<const unsigned char>;

constexpr std::size_t header_bytes = 12;

std::uint32_t number_at(Bytes bytes, std::size_t at, int size) {
  std::uint32_t number = 0;
  for (int i = 0; i < size; ++i) number |= std::uint32_t{bytes[at + i]} << (8 * i);
  return number;
}

void append(std::vector<unsigned char>& bytes, std::uint32_t number, int size) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<unsigned char>(number >> (8 * i)));
}

struct Header {
  std::uint64_t count = 0, pixels = 0;  // pixels: of each sample

  std::uint64_t sample_bytes() const { return 1 + 2 * pixels; }
  // Of the whole file. It does not overflow: both are below 2^31.
  std::uint64_t bytes() const { return header_bytes + count * sample_bytes(); }
};

// nullopt if these bytes, the first of the file, are no header.
std::optional<Header> parse(Bytes bytes) {
  if (bytes.size() < header_bytes) return std::nullopt;
  const Header header{number_at(bytes, 0, 4), number_at(bytes, 4, 4)};
  constexpr std::uint64_t most = 0x7FFF'FFFF, most_pixels = 1 << 24;
  if (header.count > most || header.pixels < 1 || header.pixels > most_pixels) return std::nullopt;
  return header;
}

Size window_of(const fs::path& file, std::uint64_t pixels, std::optional<Size> window) {
  const int side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(pixels))));
  const Size size = window.value_or(Size{side, side});
  if (size.area() == pixels) return size;
  throw UsageError(
      window ? fmt::format(
                   "{}: its samples have {} pixels, but a window of {}x{} has {}: another window "
                   "is needed",
                   file.string(), pixels, size.width, size.height, size.area())
             : fmt::format("{}: its samples have {} pixels, which is no square: the window is "
                           "needed",
                           file.string(), pixels));
}

}  // namespace

bool is_vec_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  if (error || !fs::is_regular_file(file, error)) return false;
  unsigned char bytes[header_bytes] = {};
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes), sizeof(bytes));
  const auto header = in ? parse(bytes) : std::nullopt;
  return header && header->bytes() == size;
}

Samples read_vec(const fs::path& file, std::optional<Size> window) {
  FileBytes file_bytes;
  try {
    file_bytes = InputFile(file).read();
  } catch (const InputError& error) {
    throw UsageError(fmt::format("{}: {}", file.string(), error.what()));
  }
  const std::span<const unsigned char> bytes = file_bytes;
  const std::optional<Header> header = parse(bytes);
  if (!header)
    throw UsageError(fmt::format("{}: this is not a .vec file of samples", file.string()));
  if (header->bytes() != bytes.size())
    throw UsageError(fmt::format(
        "{}: {} samples of {} pixels take {} bytes, but the file has {}: it is cut off or damaged",
        file.string(), header->count, header->pixels, header->bytes(), bytes.size()));
  Samples samples{window_of(file, header->pixels, window), {}};
  samples.pixels.reserve(header->count * header->pixels);
  for (std::size_t sample = 0; sample < header->count; ++sample)
    for (std::size_t pixel = 0; pixel < header->pixels; ++pixel) {
      const std::uint32_t value = number_at(
          bytes, header_bytes + sample * header->sample_bytes() + 1 + 2 * pixel, sizeof(short));
      if (value > 255)
        throw UsageError(fmt::format("{}: a pixel of sample {} is {}, and not from 0 to 255",
                                     file.string(), sample + 1, static_cast<std::int16_t>(value)));
      samples.pixels.push_back(static_cast<std::uint8_t>(value));
    }
  return samples;
}

void write_vec(const fs::path& file, const Samples& samples) {
  if (has_contents(file) && !is_vec_file(file)) refuse_foreign(file);
  const std::size_t pixels = samples.window.area();
  std::vector<unsigned char> bytes;
  bytes.reserve(Header{samples.count(), pixels}.bytes());
  append(bytes, static_cast<std::uint32_t>(samples.count()), 4);
  append(bytes, static_cast<std::uint32_t>(pixels), 4);
  append(bytes, 0, 4);
  for (std::size_t sample = 0; sample < samples.count(); ++sample) {
    append(bytes, 0, 1);
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      append(bytes, samples.pixels[sample * pixels + pixel], 2);
  }
  write_file(file, bytes);
}

}  // namespace facesat::training
