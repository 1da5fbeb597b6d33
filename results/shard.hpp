// Divides the inputs of a run among several runs, on one machine or many, which need not know of
// each other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace facesat {

// A 64-bit hash of a name, the same on every machine and in every version: FNV-1a over its bytes,
// followed by the finalizer of MurmurHash3, because shards depend on the low bits.
std::uint64_t name_hash(std::string_view name);

// One of `count` parts. An input belongs to the shard with the number name_hash(name) % count;
// `name` is its name in the results.
struct Shard {
  std::uint64_t index = 0, count = 1;  // index: from 0

  bool is_all() const { return count == 1; }
  bool has(std::string_view name) const { return is_all() || name_hash(name) % count == index; }
  bool operator==(const Shard&) const = default;
};

std::string to_text(const Shard& shard);  // "2/8"

}  // namespace facesat
