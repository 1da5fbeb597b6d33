// How the stages of a Haar cascade are divided into early ones, which are evaluated from integral
// images, and groups of further ones, which tensor cores evaluate: first tile by tile, then window
// by window (late_stages.hpp). What is fastest depends on the cascade, the device and the number of
// windows, and is measured.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/cascade.hpp"
#include "kernels/cascade/compiled_products.hpp"

namespace facesat::gpu {

// The first stage of each group; all of them rise, from at least 1 on. Without groups, all stages
// are early ones. There are no groups by tiles without one by windows.
struct LateDivision {
  std::vector<int> by_tiles, by_windows;

  bool empty() const { return by_windows.empty(); }
  bool operator==(const LateDivision&) const = default;
};

// Those worth measuring. The first one has no late stages.
std::vector<LateDivision> late_divisions(const CompiledProducts& products);

// The fastest divisions that have been measured in this process. May be used by any number of
// threads at the same time.
class LateDivisions {
 public:
  static LateDivisions& of_process();

  // For a number of windows of this order of magnitude; nullopt if it is not known yet.
  std::optional<LateDivision> find(int device, const std::shared_ptr<const Cascade>& cascade,
                                   std::size_t windows);
  // Returns true to the first who asks, who is to measure and keep() what is fastest.
  bool claim(int device, const std::shared_ptr<const Cascade>& cascade, std::size_t windows);
  void keep(int device, const std::shared_ptr<const Cascade>& cascade, std::size_t windows,
            LateDivision fastest);

 private:
  using Key = std::pair<int, int>;  // the device, and the bits of the number of windows
  std::mutex mutex_;
  // nullopt: being measured.
  using Measured = std::map<Key, std::optional<LateDivision>>;
  std::map<std::weak_ptr<const Cascade>, Measured, std::owner_less<>> known_;
};

}  // namespace facesat::gpu
