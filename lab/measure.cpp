#include "lab/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "facesat/types.hpp"

namespace facesat::lab {
namespace {

constexpr double slow_us = 1e5;    // what takes longer warms up only once
constexpr double enough_us = 2e6;  // in all; after these, only the fewest runs follow
constexpr std::size_t fewest_runs = 3;

// A subject while its group takes turns.
class Turn {
 public:
  Turn(const Subject& subject, Measurement& measurement, std::size_t runs)
      : measurement_(measurement), runs_(runs) {
    measurement_.failure = subject.failure;
    attempt([&] {
      runner_ = subject.open();
      if (runner_.is_right) measurement_.checked = true;
    });
  }

  // Not timed.
  void warm_up() {
    attempt([&] { last_us_ = runner_.run(); });
  }

  void run() {
    if (is_done()) return;
    if (last_us_ <= slow_us) warm_up();
    attempt([&] {
      last_us_ = runner_.run();
      if (runner_.is_right && !runner_.is_right()) measurement_.checked = false;
      measurement_.us.push_back(last_us_);
      total_us_ += last_us_;
    });
  }

 private:
  bool is_done() const {
    const std::size_t count = measurement_.us.size();
    return count >= runs_ || (count >= fewest_runs && total_us_ >= enough_us);
  }

  // Nothing more is attempted after a failure.
  template <class Attempt>
  void attempt(Attempt what) {
    if (!measurement_.failure.empty()) return;
    try {
      what();
    } catch (const Error& error) {
      measurement_ = {.failure = error.what()};
      runner_ = {};
    }
  }

  Measurement& measurement_;
  std::size_t runs_;
  Runner runner_;
  double last_us_ = 0, total_us_ = 0;
};

void measure_group(std::span<const Subject> subjects, std::span<Measurement> measurements,
                   int runs) {
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < subjects.size(); ++i)
    turns.emplace_back(subjects[i], measurements[i], static_cast<std::size_t>(runs));
  for (Turn& turn : turns) turn.warm_up();
  for (int round = 0; round < runs; ++round)
    for (Turn& turn : turns) turn.run();
  for (Measurement& measurement : measurements)
    std::sort(measurement.us.begin(), measurement.us.end());
}

}  // namespace

std::vector<Measurement> measure(std::span<const Subject> subjects, int runs, std::size_t room) {
  std::vector<Measurement> measurements(subjects.size());
  for (std::size_t begin = 0, end = 0; begin < subjects.size(); begin = end) {
    std::size_t held = 0;
    do held += subjects[end++].workspace_bytes;
    while (end < subjects.size() && held + subjects[end].workspace_bytes <= room);
    measure_group(subjects.subspan(begin, end - begin),
                  std::span(measurements).subspan(begin, end - begin), runs);
  }
  return measurements;
}

double quantile(const std::vector<double>& sorted, double q) {
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Runner on_host(std::function<void()> run, std::function<bool()> is_right,
               std::function<void()> prepare) {
  return {.run =
              [run = std::move(run), prepare = std::move(prepare)] {
                using Clock = std::chrono::steady_clock;
                if (prepare) prepare();
                const auto begin = Clock::now();
                run();
                return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
              },
          .is_right = std::move(is_right)};
}

}  // namespace facesat::lab
