// The keys of a JSON object, to tell whether it is one that this program wrote.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace facesat {

// In their order, each with a space after it; of what is no object: none.
inline std::string keys_of(const nlohmann::ordered_json& object) {
  std::string keys;
  if (!object.is_object()) return keys;
  for (const auto& [key, value] : object.items()) keys += key + " ";
  return keys;
}

}  // namespace facesat
