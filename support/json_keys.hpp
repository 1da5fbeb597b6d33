// The keys of a JSON object, to check whether this program wrote it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace facesat {

// The keys in order, each followed by a space; empty if this is not an object.
inline std::string keys_of(const nlohmann::ordered_json& object) {
  std::string keys;
  if (!object.is_object()) return keys;
  for (const auto& [key, value] : object.items()) keys += key + " ";
  return keys;
}

}  // namespace facesat
