#include "app/detect/sink.hpp"

#include <fmt/format.h>

#include "results/format.hpp"
#include "support/files.hpp"

namespace facesat::app {

void Sink::take(const Item& item) {
  if (error_) return;
  try {
    if (item.error) std::rethrow_exception(item.error);
    if (!item.earlier) write(item);
  } catch (...) {
    error_ = std::current_exception();
    return;
  }
  const std::size_t inputs = item.earlier_inputs > 0 ? item.earlier_inputs : item.last_of_input;
  counts.inputs += inputs;
  counts.skipped += item.earlier ? inputs : 0;
  progress_.update(counts);
}

void Sink::write(const Item& item) {
  const Record& record = item.record;
  const std::string text = layout_.to_text(record);
  journal_.add({item.place.key, item.place.occurrence, record.frame, record.failure.has_value(),
                item.last_of_input, item.place.version, file_.size() + text.size(),
                checksum(text)});
  file_.write(text);
  ++counts.records;
  counts.faces += record.faces.size();
  counts.failures += record.failure.has_value();
  counts.warnings += !record.warning.empty();
  const std::string& remark = record.failure ? record.failure->message : record.warning;
  if (!remark.empty() && !(layout_.format->tells_failures && quiet_))
    progress_.message(fmt::format("facesat: {}: {}", record.image, remark));
}

}  // namespace facesat::app
