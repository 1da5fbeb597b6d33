// What a table of measurements records about the machine and the date.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace facesat::app {

nlohmann::ordered_json machine_json();

// To be called before measuring, with the file for write_table(), or "" for none. Throws UsageError
// with the reason if the file cannot be written, or if it exists and is anything but such a table.
void require_writable_table(const std::string& file);

// Writes {"machine", "rows"} to a file. Throws OutputError.
void write_table(const std::string& file, const nlohmann::ordered_json& rows);

}  // namespace facesat::app
