// Writes the sample sets of tests/kit/train_sets.hpp in the files that opencv_traincascade reads;
// used by train_reference.py. For each set: FOLDER/NAME.vec, the negatives FOLDER/NAME/00000.pgm
// and so on, their list FOLDER/NAME.txt, and one line on the standard output: name, width and
// height of the window, number of positives, number of negatives, checksum.
#include "tests/kit/train_sets.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "support/files.hpp"

namespace facesat::test {
namespace {

void append_number(std::vector<unsigned char>& to, int value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<unsigned char>(value >> 8 * i));
}

// The header is 32-bit count and pixels per sample, and 32 bits of zero; a sample is a zero byte
// and its pixels, 16 bits each; all little-endian.
void write_vec(const std::filesystem::path& file, const TrainSet& set) {
  std::vector<unsigned char> bytes;
  append_number(bytes, static_cast<int>(set.positives.size()), 4);
  append_number(bytes, static_cast<int>(set.window.area()), 4);
  append_number(bytes, 0, 4);
  for (const Image<std::uint8_t>& sample : set.positives) {
    bytes.push_back(0);
    for (int y = 0; y < set.window.height; ++y)
      for (int x = 0; x < set.window.width; ++x) append_number(bytes, sample.row(y)[x], 2);
  }
  write_file(file, bytes);
}

void write_pgm(const std::filesystem::path& file, const Image<std::uint8_t>& picture) {
  const auto [width, height] = picture.size();
  std::string bytes = fmt::format("P5\n{} {}\n255\n", width, height);
  for (int y = 0; y < height; ++y) bytes.append(picture.row(y), picture.row(y) + width);
  write_text(file, bytes);
}

void write_set(const std::filesystem::path& folder, const TrainSet& set) {
  make_folder(folder / set.name);
  write_vec(folder / (set.name + ".vec"), set);
  std::string list;
  for (std::size_t i = 0; i < set.negatives.size(); ++i) {
    const std::filesystem::path file = folder / set.name / fmt::format("{:05}.pgm", i);
    write_pgm(file, set.negatives[i]);
    list += std::filesystem::absolute(file).string() + '\n';
  }
  write_text(folder / (set.name + ".txt"), list);
  fmt::print("{} {} {} {} {} {:016x}\n", set.name, set.window.width, set.window.height,
             set.positives.size(), set.negatives.size(), checksum(set));
}

}  // namespace
}  // namespace facesat::test

// Arguments: the folder to write into, FACESAT_TEST_DATA/train.
int main(int argc, char** argv) try {
  using namespace facesat::test;
  if (argc != 3) throw facesat::Error("needs a folder for the sets and the folder of the data");
  write_set(argv[1], shapes_set());
  write_set(argv[1], faces_set(argv[2]));
  write_set(argv[1], cars_set(argv[2]));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "facesat_train_sets: %s\n", error.what());
  return 1;
}
