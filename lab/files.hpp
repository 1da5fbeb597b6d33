// The tables that benchmarks write, as JSON. A file that a benchmark has not written is never
// overwritten.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace facesat::lab {

// CPU, cores, GPUs, compiler and date (UTC).
nlohmann::ordered_json machine_json();

// To be called before measuring; "": no such file is written. Throws UsageError with the reason if
// the file cannot be written, or if it has contents that write_table() did not write.
void require_writable_table(const std::string& file);

// Writes a JSON object with the members "machine" (machine_json()) and "rows". Throws OutputError.
void write_table(const std::string& file, const nlohmann::ordered_json& rows);

}  // namespace facesat::lab
