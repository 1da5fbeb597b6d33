#include "results/format.hpp"

#include <algorithm>
#include <fstream>

namespace facesat {

const std::vector<const Format*>& formats() {
  static const std::vector<const Format*> all{&jsonl_format(), &csv_format()};
  return all;
}

const Format* format_of_results(const std::filesystem::path& file) {
  const auto holds = [&](const Format* format) {
    std::ifstream in(file, std::ios::binary);
    return format->holds_only_results(in);
  };
  const auto found = std::ranges::find_if(formats(), holds);
  return found == formats().end() ? nullptr : *found;
}

std::string Layout::header() const {
  return format->header(*this);
}

std::string Layout::to_text(const Record& record) const {
  return format->to_text(record, *this);
}

}  // namespace facesat
