#include "kernels/cascade/late_division.hpp"

#include <bit>
#include <utility>

namespace facesat::gpu {
namespace {

// Of the features of a group, in bytes: those of the first groups stay in shared memory. There are
// fewer windows from group to group, and soon too few to be worth another one.
constexpr int most_bytes[] = {80 << 10, 80 << 10, 170 << 10, 370 << 10};

std::vector<int> groups_from(int first, const CompiledProducts& products) {
  const auto stages = static_cast<int>(products.first_bundle.size()) - 1;
  const auto bytes = [&](int begin, int end) {
    return (products.first_bundle[end] - products.first_bundle[begin]) *
           products.layout.weight_bytes();
  };
  std::vector<int> division{first};
  for (const int most : most_bytes) {
    const int begin = division.back();
    int end = begin + 1;
    while (end < stages && bytes(begin, end + 1) <= most) ++end;
    if (end >= stages) break;
    division.push_back(end);
  }
  return division;
}

int magnitude_of(std::size_t windows) {
  return static_cast<int>(std::bit_width(windows));
}

}  // namespace

std::vector<LateDivision> late_divisions(const CompiledProducts& products) {
  const auto stages = static_cast<int>(products.first_bundle.size()) - 1;
  std::vector<LateDivision> all{{}};
  for (const int first : {3, 4, 5, 6, 8})
    if (first < stages) all.push_back({{}, groups_from(first, products)});
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

void LateDivisions::keep(int device, const std::shared_ptr<const Cascade>& cascade,
                         std::size_t windows, LateDivision fastest) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.first.expired(); });
  known_[cascade][{device, magnitude_of(windows)}] = std::move(fastest);
}

}  // namespace facesat::gpu
