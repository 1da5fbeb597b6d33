#include "results/shard.hpp"

#include <fmt/format.h>

namespace facesat {

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCD;
  hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53;
  return hash ^ (hash >> 33);
}

std::string to_text(const Shard& shard) {
  return fmt::format("{}/{}", shard.index, shard.count);
}

}  // namespace facesat
