#include "app/detect/sink.hpp"

#include <fmt/format.h>

namespace facesat::app {

void Sink::take(const Item& item) {
  if (error_) return;
  try {
    if (item.output_error) std::rethrow_exception(item.output_error);
    if (!item.earlier) write(item.record);
  } catch (...) {
    error_ = std::current_exception();
    return;
  }
  counts.inputs += item.last_of_input;
  counts.skipped += item.last_of_input && item.earlier;
  progress_.update(counts);
}

void Sink::write(const Record& record) {
  file_.write(layout_.to_text(record));
  ++counts.records;
  counts.faces += record.faces.size();
  counts.failures += record.failure.has_value();
  const std::string& remark = record.failure ? record.failure->message : record.warning;
  const bool told_elsewhere = layout_.format == Format::jsonl;  // CSV has no place for it
  if (!remark.empty() && !(told_elsewhere && quiet_))
    progress_.message(fmt::format("facesat: {}: {}", record.image, remark));
}

}  // namespace facesat::app
