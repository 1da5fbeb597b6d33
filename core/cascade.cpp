#include "core/cascade.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

namespace facesat {
namespace {

constexpr std::uintmax_t max_file_bytes = 16 << 20;  // the largest of OpenCV's has 3 MiB

}  // namespace

bool Cascade::has_tilted() const {
  return std::any_of(haar.begin(), haar.end(), [](const HaarFeature& f) { return f.tilted; });
}

bool Cascade::is_stumps() const {
  return std::all_of(trees.begin(), trees.end(), [](const Tree& t) { return t.node_count == 1; });
}

Cascade load_cascade(const std::filesystem::path& file) {
  const std::string name = file.string();
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (error) throw CascadeError(fmt::format("{}: {}", name, error.message()));
  if (std::filesystem::is_directory(status))
    throw CascadeError(fmt::format("{}: this is a folder; a cascade file was expected", name));
  std::ifstream in(file, std::ios::binary);
  if (!in) throw CascadeError(fmt::format("{}: {}", name, std::strerror(errno)));
  std::string xml(max_file_bytes + 1, '\0');
  in.read(xml.data(), static_cast<std::streamsize>(xml.size()));
  xml.resize(static_cast<std::size_t>(in.gcount()));
  if (xml.size() > max_file_bytes)
    throw CascadeError(fmt::format("{}: the file is larger than {} MiB; no cascade is", name,
                                   max_file_bytes >> 20));
  Cascade cascade = parse_cascade(xml, name);
  cascade.name = file.stem().string();
  return cascade;
}

}  // namespace facesat
