#include "kernels/image/atlas.hpp"

#include <algorithm>
#include <utility>

namespace facesat::gpu {
namespace {

constexpr int alignment = 16;  // of levels and of the atlas's width, in pixels

// Places levels on shelves. A shelf is a strip across the atlas, as high as the first level on it;
// levels come in decreasing size.
class Shelves {
 public:
  explicit Shelves(int width) : width_(width) {}

  AtlasPlan::Place place(Size level, int group) {
    auto shelf = std::find_if(shelves_.begin(), shelves_.end(), [&](const Shelf& s) {
      return s.height >= level.height && width_ - s.used >= level.width;
    });
    if (shelf == shelves_.end()) shelf = shelves_.insert(shelf, {height_, level.height, 0});
    height_ = std::max(height_, shelf->y + shelf->height);
    const AtlasPlan::Place place{group, shelf->used, shelf->y};
    shelf->used += divide_up(level.width, alignment) * alignment;
    return place;
  }
  Size size() const { return {width_, height_}; }

 private:
  struct Shelf {
    int y, height, used;  // used: width of what is on the shelf
  };
  int width_, height_ = 0;
  std::vector<Shelf> shelves_;
};

}  // namespace

Size AtlasPlan::largest() const {
  Size size;
  for (const LevelGroup& group : groups)
    size = {group.atlas.width, std::max(size.height, group.atlas.height)};
  return size;
}

// A level that would make the atlas too large begins a new group.
AtlasPlan plan_atlas(const Pyramid& pyramid, std::size_t max_pixels) {
  AtlasPlan plan;
  const int widest = pyramid.levels.empty() ? 0 : pyramid.levels.front().size.width;
  const int width = divide_up(widest, alignment) * alignment;
  Shelves shelves(width);
  for (int i = 0; i < static_cast<int>(pyramid.levels.size()); ++i) {
    const Size level = pyramid.levels[i].size;
    const int group = std::max(static_cast<int>(plan.groups.size()) - 1, 0);
    Shelves grown = shelves;
    AtlasPlan::Place place = grown.place(level, group);
    if (i == 0 || grown.size().area() > max_pixels) {
      grown = Shelves(width);
      place = grown.place(level, static_cast<int>(plan.groups.size()));
      plan.groups.push_back({i, 0, {}});
    }
    shelves = std::move(grown);
    plan.places.push_back(place);
    ++plan.groups.back().count;
    plan.groups.back().atlas = shelves.size();
  }
  return plan;
}

}  // namespace facesat::gpu
