#include "kernels/cascade/late_division.hpp"

#include <bit>
#include <iterator>
#include <utility>

namespace facesat::gpu {
namespace {

// Adds up bundles stage by stage.
class Groups {
 public:
  explicit Groups(const CompiledProducts& products) : products_(products) {}

  int stages() const { return static_cast<int>(products_.first_bundle.size()) - 1; }

  // The end of the group that begins with a stage: it has at least this one, and others as long as
  // their features are at most `most`, in bytes or in groups of columns.
  int end_by_bytes(int begin, int most) const {
    return end_of(begin, most, products_.layout.weight_bytes());
  }
  int end_by_columns(int begin, int most) const {
    return end_of(begin, most, products_.layout.tree_nodes);
  }

 private:
  int end_of(int begin, int most, int bundle) const {
    int end = begin + 1;
    while (end < stages() &&
           (products_.first_bundle[end + 1] - products_.first_bundle[begin]) * bundle <= most)
      ++end;
    return end;
  }

  const CompiledProducts& products_;
};

// The features of the first groups stay in shared memory. There are fewer windows from group to
// group, and soon too few to be worth another one.
constexpr int first_bytes[] = {80 << 10, 80 << 10, 170 << 10, 370 << 10};

// Begins with first_bytes[size].
std::vector<int> by_windows(int first, std::size_t size, const Groups& groups) {
  std::vector<int> begins{first};
  for (; size < std::size(first_bytes); ++size) {
    const int end = groups.end_by_bytes(begins.back(), first_bytes[size]);
    if (end >= groups.stages()) break;
    begins.push_back(end);
  }
  return begins;
}

// One slice of columns by tiles, then two: see tile_stages.cu.
LateDivision by_tiles(int first, const Groups& groups) {
  const int second = groups.end_by_columns(first, 12);
  if (second >= groups.stages()) return {{}, {first}};
  const int third = groups.end_by_columns(second, 24);
  if (third >= groups.stages()) return {{first}, {second}};
  return {{first, second}, by_windows(third, 2, groups)};
}

int magnitude_of(std::size_t windows) {
  return static_cast<int>(std::bit_width(windows));
}

}  // namespace

std::vector<LateDivision> late_divisions(const CompiledProducts& products) {
  const Groups groups(products);
  std::vector<LateDivision> all{{}};
  for (const int first : {4, 5, 6})
    if (first < groups.stages()) all.push_back({{}, by_windows(first, 0, groups)});
  for (const int first : {1, 2, 3, 4})
    if (first < groups.stages()) all.push_back(by_tiles(first, groups));
  return all;
}

LateDivisions& LateDivisions::of_process() {
  static LateDivisions all;
  return all;
}

std::optional<LateDivision> LateDivisions::find(int device,
                                                const std::shared_ptr<const Cascade>& cascade,
                                                std::size_t windows) {
  const std::scoped_lock lock(mutex_);
  const auto of_cascade = known_.find(cascade);
  if (of_cascade == known_.end()) return std::nullopt;
  const auto found = of_cascade->second.find({device, magnitude_of(windows)});
  if (found == of_cascade->second.end()) return std::nullopt;
  return found->second;
}

bool LateDivisions::claim(int device, const std::shared_ptr<const Cascade>& cascade,
                          std::size_t windows) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
  return known_[cascade].try_emplace({device, magnitude_of(windows)}).second;
}

void LateDivisions::keep(int device, const std::shared_ptr<const Cascade>& cascade,
                         std::size_t windows, LateDivision fastest) {
  const std::scoped_lock lock(mutex_);
  known_[cascade][{device, magnitude_of(windows)}] = std::move(fastest);
}

}  // namespace facesat::gpu
