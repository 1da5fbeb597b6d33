#include "app/live/detection/history.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace facesat::app {

std::string_view live_step_name(std::size_t step) {
  if (step == 0) return "capture";
  return step <= step_names.size() ? step_names[step - 1] : "draw";
}

void History::add(const Sample& sample, const Subject& subject) {
  if (subject != subject_) samples_.clear();
  subject_ = subject;
  if (sample.failed) return;
  samples_.push_back(sample);
  if (samples_.size() > most) samples_.pop_front();
}

double History::frames_per_second() const {
  if (samples_.size() < 2) return 0;
  const auto last = samples_.back().shown;
  const auto first = std::find_if(samples_.begin(), samples_.end() - 2, [&](const Sample& s) {
    return last - s.shown < std::chrono::seconds(1);
  });
  const double seconds = std::chrono::duration<double>(last - first->shown).count();
  return seconds > 0 ? static_cast<double>(samples_.end() - first - 1) / seconds : 0;
}

// By nearest rank, over the samples for which `of` gives a number.
template <class Of>
double History::quantile(double q, Of of) const {
  std::vector<double> values;
  for (const Sample& sample : samples_)
    if (const std::optional<double> value = of(sample)) values.push_back(*value);
  if (values.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

double History::latency_quantile(double q) const {
  return quantile(q, [](const Sample& s) { return s.latency_ms; });
}
double History::detect_quantile(double q) const {
  return quantile(q, [](const Sample& s) { return std::optional(s.detect_ms); });
}

History::StepSummary History::step(std::size_t step) const {
  const auto ratio = [](double a, double b) {
    return a > 0 && b > 0 ? std::optional(a / b) : std::nullopt;
  };
  return {
      quantile(0.5, [&](const Sample& s) { return std::optional(s.ms[step]); }),
      quantile(0.5, [&](const Sample& s) { return ratio(s.bytes[step], s.ms[step] / 1000); }),
      quantile(0.5, [&](const Sample& s) { return ratio(s.ms[step], s.floor_ms[step]); }),
  };
}

std::string times_csv(const std::vector<Sample>& samples) {
  std::string text = "frame";
  for (std::size_t step = 0; step < live_step_count; ++step)
    text += fmt::format(",{}_ms", live_step_name(step));
  text += ",detect_ms,latency_ms,windows,faces\n";
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const auto number = [&](std::optional<double> ms) {
      text += ms && !sample.failed ? fmt::format(",{:.4f}", *ms) : ",";
    };
    text += fmt::format("{}", i);
    for (const double ms : sample.ms) number(ms);
    number(sample.detect_ms);
    number(sample.latency_ms);
    text += fmt::format(",{},{}\n", sample.windows, sample.faces);
  }
  return text;
}

bool is_times_csv(const std::string& text) {
  const std::string header = times_csv({});
  if (!text.starts_with(header) || !text.ends_with('\n')) return false;
  const auto lines = std::count(text.begin(), text.end(), '\n') - 1;
  const auto commas = std::count(header.begin(), header.end(), ',');
  return text.find_first_not_of("0123456789.,\n", header.size()) == text.npos &&
         std::count(text.begin(), text.end(), ',') == commas * (lines + 1);
}

}  // namespace facesat::app
