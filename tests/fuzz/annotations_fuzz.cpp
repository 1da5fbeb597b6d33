// libFuzzer: any bytes as a file of annotations of each format, and as a .vec file of samples. A
// reader may throw only the errors that it documents, and what it gives must hold together.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "datasets/annotations.hpp"
#include "datasets/vec_file.hpp"
#include "support/errors.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

// Ends the program, which libFuzzer reports, unless `holds`.
void require(bool holds) {
  if (!holds) std::abort();
}

void read_any(const fs::path& source) {
  try {
    const Annotations found = read_annotations(source);
    constexpr std::size_t most_warnings = 11;
    require(found.warnings.size() <= most_warnings);
    for (const AnnotatedPicture& picture : found.pictures) {
      require(!picture.name.empty());
      for (const AnnotatedObject& object : picture.objects) {
        require(object.box.width > 0 && object.box.height > 0);
        require(std::isfinite(object.box.x + object.box.y + object.box.width + object.box.height));
      }
    }
  } catch (const UsageError&) {
  }
}

// Samples that can be read are the same after they are written and read again.
void read_samples(const fs::path& source, const fs::path& copy) {
  try {
    const Samples samples = read_vec(source, std::nullopt);
    require(is_vec_file(source));
    write_vec(copy, samples);
    require(read_vec(copy, samples.window).pixels == samples.pixels);
  } catch (const UsageError&) {
  }
}

// A folder for formats that need one, with a picture of 4 x 4 pixels; made once.
const fs::path& folder() {
  static const fs::path made = [] {
    std::string name = (fs::temp_directory_path() / "annotations-fuzz-XXXXXX").string();
    const fs::path all = ::mkdtemp(name.data());
    fs::create_directories(all / "yolo");
    fs::create_directories(all / "voc");
    std::ofstream(all / "yolo/p.pgm", std::ios::binary) << "P5 4 4 255\n" << std::string(16, 'x');
    std::atexit([] { fs::remove_all(folder()); });
    return all;
  }();
  return made;
}

void write(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace
}  // namespace facesat::training

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace facesat::training;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  write(folder() / "file", text);
  read_any(folder() / "file");
  read_samples(folder() / "file", folder() / "copy.vec");
  // Of YOLO, the bytes are the objects of a picture, and the names of classes, too.
  for (const char* name : {"yolo/p.txt", "yolo/data.yaml", "voc/p.xml"})
    write(folder() / name, text);
  read_any(folder() / "yolo");
  read_any(folder() / "voc");
  return 0;
}
