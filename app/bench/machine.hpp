// What a measured table says about where and when it was measured.
#pragma once

#include <nlohmann/json.hpp>

namespace facesat::app {

nlohmann::ordered_json machine_json();

// {"machine", "rows"} into a file. Throws OutputError.
void write_table(const std::string& file, const nlohmann::ordered_json& rows);

}  // namespace facesat::app
