// The files that `--report` of benchmarks names.
#pragma once

#include <string>

namespace facesat::app {

// To be called before measuring. Throws UsageError with the reason if `file` cannot be written, or
// if it has contents that write_report() did not write.
void require_writable_report(const std::string& file);

// Writes an HTML page, with a mark at its end. Throws OutputError.
void write_report(const std::string& file, const std::string& page);

}  // namespace facesat::app
