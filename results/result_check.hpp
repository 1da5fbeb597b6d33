// Checks whether text is what this program writes as results, because only such text may be
// overwritten or completed.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "results/results.hpp"

namespace facesat {

// Parses a line of JSON Lines, without its line end, as a record; null if it is not exactly what
// facesat writes (it may have been written or edited by hand).
nlohmann::ordered_json parse_record(std::string_view line);

// Is `text`, the end of a file, what a killed run may leave of a record? In CSV a record has one
// row per face, with `columns` columns.
bool is_torn_record(std::string_view text);
bool is_torn_record_in_csv(std::string_view text, std::size_t columns);

// The format of a file that holds nothing but results of facesat; nullopt for other files.
std::optional<Format> format_of_results(const std::filesystem::path& file);

}  // namespace facesat
