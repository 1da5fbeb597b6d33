#include "app/bench/report_file.hpp"

#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "library/support/checksum.hpp"
#include "library/support/files.hpp"

namespace facesat::app {
namespace {

// A report ends with a comment that identifies it, as long as nobody has edited the file.
constexpr std::string_view mark_begin = "<!-- facesat ";
std::string with_mark(const std::string& page) {
  return fmt::format("{}{}{:016x} -->\n", page, mark_begin, checksum(page));
}

}  // namespace

void require_writable_report(const std::string& file) {
  require_writable(file);
  const std::vector<unsigned char> bytes = read_file(file);
  const std::string text(bytes.begin(), bytes.end());
  if (!text.empty() && with_mark(text.substr(0, text.rfind(mark_begin))) != text)
    refuse_foreign(file);
}

void write_report(const std::string& file, const std::string& page) {
  write_text(file, with_mark(page));
}

}  // namespace facesat::app
