#include "app/live/detection/history.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace facesat::app {
namespace {

std::string csv_header(bool has_filter) {
  std::string text = "frame";
  for (std::size_t step = 0; step < live_step_count; ++step)
    text += fmt::format(",{}_ms", live_step_name(step));
  if (has_filter) text += ",filter_ms";
  return text + ",detect_ms,latency_ms,windows,faces\n";
}

}  // namespace

std::string_view live_step_name(std::size_t step) {
  if (step < steps_before_detection) return step == 0 ? "capture" : "decode";
  step -= steps_before_detection;
  return step < step_names.size() ? step_names[step] : "draw";
}

double Sample::step_ms(std::size_t step) const {
  if (step < live_step_count) return ms[step];
  return step - live_step_count < filter.size() ? filter[step - live_step_count].us / 1000 : 0;
}

double Sample::filter_ms() const {
  double us = 0;
  for (const FilterTime& time : filter) us += time.us;
  return us / 1000;
}

void History::add(const Sample& sample, const Subject& subject) {
  if (subject != subject_) samples_.clear();
  subject_ = subject;
  if (sample.failed) return;
  samples_.push_back(sample);
  if (samples_.size() > most) samples_.pop_front();
}

History History::part(std::size_t first, std::size_t last) const {
  History part;
  for (std::size_t i = first; i <= last && i < samples_.size(); ++i)
    part.add(samples_[i], subject_);
  return part;
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

bool History::has_latencies() const {
  return std::ranges::any_of(samples_, [](const Sample& s) { return s.latency_ms.has_value(); });
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
  const double ms = quantile(0.5, [&](const Sample& s) { return std::optional(s.step_ms(step)); });
  if (step >= live_step_count) return {.ms = ms};
  return {
      ms,
      quantile(0.5, [&](const Sample& s) { return ratio(s.bytes[step], s.ms[step] / 1000); }),
      quantile(0.5, [&](const Sample& s) { return ratio(s.ms[step], s.floor_ms[step]); }),
  };
}

std::vector<History::KernelSummary> History::kernels(std::size_t step) const {
  if (samples_.empty() || step < steps_before_detection) return {};
  const std::vector<KernelTime>& newest = samples_.back().kernels;
  std::vector<KernelSummary> kernels;
  std::vector<std::vector<std::size_t>> launches;  // of each of `kernels`: indices in a sample
  for (std::size_t i = 0; i < newest.size(); ++i) {
    if (live_step(newest[i].step) != step) continue;
    const auto found = std::ranges::find(kernels, newest[i].name, &KernelSummary::name);
    const auto k = static_cast<std::size_t>(found - kernels.begin());
    if (found == kernels.end()) {
      kernels.push_back({.name = newest[i].name});
      launches.emplace_back();
    }
    launches[k].push_back(i);
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    kernels[k].launches = static_cast<int>(launches[k].size());
    kernels[k].ms = quantile(0.5, [&](const Sample& sample) -> std::optional<double> {
      if (sample.kernels.size() != newest.size()) return std::nullopt;
      double ms = 0;
      for (const std::size_t i : launches[k]) {
        const KernelTime& kernel = sample.kernels[i];
        if (kernel.step != newest[i].step || kernel.name != newest[i].name) return std::nullopt;
        ms += kernel.ms;
      }
      return ms;
    });
  }
  return kernels;
}

double History::filter_compute_ms() const {
  return quantile(0.5, [](const Sample& s) { return std::optional(s.filter_compute_ms); });
}
double History::compared_compute_ms() const {
  return quantile(0.5, [](const Sample& s) { return std::optional(s.compared_compute_ms); });
}

std::vector<std::size_t> History::steps() const {
  std::vector<std::size_t> steps(live_step_count);
  std::iota(steps.begin(), steps.end(), 0);
  if (samples_.empty()) return steps;
  std::erase_if(steps, [this](std::size_t step) {
    return std::ranges::all_of(samples_, [step](const Sample& s) { return s.ms[step] == 0; });
  });
  const auto draw = std::ranges::find(steps, live_step_count - 1);
  std::vector<std::size_t> filter(samples_.back().filter.size());
  std::iota(filter.begin(), filter.end(), live_step_count);
  steps.insert(draw, filter.begin(), filter.end());
  return steps;
}

std::string History::step_name(std::size_t step) const {
  if (step < live_step_count) return std::string(live_step_name(step));
  return "filter: " + samples_.back().filter[step - live_step_count].step;
}

std::string times_csv(const std::vector<Sample>& samples) {
  const bool has_filter = std::any_of(samples.begin(), samples.end(),
                                      [](const Sample& sample) { return !sample.filter.empty(); });
  std::string text = csv_header(has_filter);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const auto number = [&](std::optional<double> ms) {
      text += ms && !sample.failed ? fmt::format(",{:.4f}", *ms) : ",";
    };
    text += fmt::format("{}", i);
    for (const double ms : sample.ms) number(ms);
    if (has_filter)
      number(sample.filter.empty() ? std::nullopt : std::optional(sample.filter_ms()));
    number(sample.detect_ms);
    number(sample.latency_ms);
    text += fmt::format(",{},{}\n", sample.windows, sample.faces);
  }
  return text;
}

bool is_times_csv(const std::string& text) {
  std::string header = csv_header(false);
  if (!text.starts_with(header)) header = csv_header(true);
  if (!text.starts_with(header) || !text.ends_with('\n')) return false;
  const auto lines = std::count(text.begin(), text.end(), '\n') - 1;
  const auto commas = std::count(header.begin(), header.end(), ',');
  return text.find_first_not_of("0123456789.,\n", header.size()) == text.npos &&
         std::count(text.begin(), text.end(), ',') == commas * (lines + 1);
}

}  // namespace facesat::app
