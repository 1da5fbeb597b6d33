// What a measured table says about where and when it was measured.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace facesat::app {

nlohmann::ordered_json machine_json();

// Asked before measuring, with no file at all or the one for write_table(). Throws UsageError with
// the reason, unless it can be written, and nothing but such a table is there yet.
void require_writable_table(const std::string& file);

// {"machine", "rows"} into a file. Throws OutputError.
void write_table(const std::string& file, const nlohmann::ordered_json& rows);

}  // namespace facesat::app
