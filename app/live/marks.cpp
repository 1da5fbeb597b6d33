#include "app/live/marks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "datasets/annotations.hpp"
#include "datasets/training_folder.hpp"
#include "media/codec.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

Rect rounded(const training::Box& box) {
  const auto whole = [](double value) { return static_cast<int>(std::lround(value)); };
  return {whole(box.x), whole(box.y), whole(box.width), whole(box.height)};
}

}  // namespace

Marks::Marks(fs::path folder) : folder_(std::move(folder)) {
  read();
}

void Marks::read() {
  std::error_code ignored;
  if (!fs::is_directory(folder_, ignored))
    throw UsageError(folder_.string() + ": the folder of the marked objects is not there");
  std::map<std::string, Boxes> marked;
  if (has_contents(annotations()))
    for (const auto& picture : training::read_annotations(annotations()).pictures) {
      Boxes& boxes = marked[picture.name];
      for (const training::AnnotatedObject& object : picture.objects)
        if (const Rect box = rounded(object.box); box.width > 0 && box.height > 0)
          boxes.push_back(box);
    }
  marked_ = std::move(marked);
}

std::string Marks::name_of(View<const Bgr> picture) {
  std::uint64_t sum = static_cast<std::uint64_t>(picture.size.width);
  for (int y = 0; y < picture.size.height; ++y)
    sum = checksum({reinterpret_cast<const char*>(picture.row(y)),
                    static_cast<std::size_t>(picture.size.width) * sizeof(Bgr)},
                   sum);
  return fmt::format("{:016x}.png", sum);
}

std::optional<Marks::Boxes> Marks::find(const std::string& name) const {
  const auto found = marked_.find(name);
  return found == marked_.end() ? std::nullopt : std::optional(found->second);
}

void Marks::set(const std::string& name, View<const Bgr> picture, Boxes boxes) {
  read();
  std::error_code ignored;
  if (!fs::exists(folder_ / name, ignored)) write_picture(folder_ / name, picture);
  marked_[name] = std::move(boxes);
  write();
}

void Marks::remove(const std::string& name) {
  read();
  if (marked_.erase(name) == 0) return;
  write();
  std::error_code ignored;  // then the picture stays, and does no harm
  fs::remove(folder_ / name, ignored);
}

std::size_t Marks::objects() const {
  std::size_t count = 0;
  for (const auto& [name, boxes] : marked_) count += boxes.size();
  return count;
}

void Marks::write() const {
  std::error_code ignored;
  if (marked_.empty()) {  // an empty file is no annotation
    fs::remove(annotations(), ignored);
    return;
  }
  std::string text;
  for (const auto& [name, boxes] : marked_) {
    text += fmt::format("{} {}", name, boxes.size());
    for (const Rect& box : boxes)
      text += fmt::format(" {} {} {} {}", box.x, box.y, box.width, box.height);
    text += '\n';
  }
  training::replace_file(annotations(), text);
}

Size Marks::window() const {
  double logarithms = 0;
  for (const auto& [name, boxes] : marked_)
    for (const Rect& box : boxes)
      logarithms += std::log(static_cast<double>(box.width) / static_cast<double>(box.height));
  const double count = static_cast<double>(std::max<std::size_t>(objects(), 1));
  const double of_aspect = std::exp(logarithms / count / 2);
  const auto length = [](double factor) {
    return static_cast<int>(std::lround(std::max(24 * factor, 12.0)));
  };
  return {length(of_aspect), length(1 / of_aspect)};
}

}  // namespace facesat::app
