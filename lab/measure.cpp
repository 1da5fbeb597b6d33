#include "lab/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "facesat/types.hpp"

namespace facesat::lab {
namespace {

constexpr double slow_us = 1e5;  // what takes longer warms up only once
constexpr double enough_us =
    2e6;  // timed, in all: a subject that has taken this long stops after `fewest_runs`
constexpr std::size_t fewest_runs = 3;

}  // namespace

Measuring::Measuring(std::vector<Subject> subjects, int runs, std::size_t room)
    : subjects_(std::move(subjects)),
      measurements_(subjects_.size()),
      states_(subjects_.size()),
      runs_(static_cast<std::size_t>(runs)),
      room_(room),
      end_(end_of_group()) {
  for (std::size_t i = 0; i < subjects_.size(); ++i)
    measurements_[i].failure = subjects_[i].failure;
}

std::size_t Measuring::end_of_group() const {
  std::size_t end = group_, held = 0;
  while (end < subjects_.size() &&
         (end == group_ || held + subjects_[end].workspace_bytes <= room_))
    held += subjects_[end++].workspace_bytes;
  return end;
}

void Measuring::go_on() {
  if (is_over()) return;
  if (round_ == 0)
    open(next_);
  else
    run(next_);
  if (++next_ < end_) return;
  next_ = group_;
  if (++round_ <= runs_) return;
  for (; group_ < end_; ++group_) {
    std::sort(measurements_[group_].us.begin(), measurements_[group_].us.end());
    states_[group_] = {};
  }
  next_ = group_;
  end_ = end_of_group();
  round_ = 0;
}

void Measuring::open(std::size_t subject) {
  State& state = states_[subject];
  attempt(subject, [&] {
    state.runner = subjects_[subject].open();
    if (state.runner.is_right) measurements_[subject].all_right = true;
    state.last_us = state.runner.run();
  });
}

void Measuring::run(std::size_t subject) {
  if (has_enough(subject)) return;
  State& state = states_[subject];
  Measurement& measurement = measurements_[subject];
  attempt(subject, [&] {
    if (state.last_us <= slow_us) state.last_us = state.runner.run();  // not timed
    state.last_us = state.runner.run();
    if (state.runner.note_timed) state.runner.note_timed();
    if (state.runner.is_right && !state.runner.is_right()) measurement.all_right = false;
    measurement.us.push_back(state.last_us);
    state.total_us += state.last_us;
  });
}

bool Measuring::has_enough(std::size_t subject) const {
  return measurements_[subject].us.size() >= fewest_runs && states_[subject].total_us >= enough_us;
}

// Nothing more is attempted after a failure.
template <class Attempt>
void Measuring::attempt(std::size_t subject, const Attempt& what) {
  if (!measurements_[subject].failure.empty()) return;
  try {
    what();
  } catch (const Error& error) {
    measurements_[subject] = {.failure = error.what()};
    states_[subject] = {};
  }
}

std::vector<Measurement> measure(std::span<const Subject> subjects, int runs, std::size_t room) {
  Measuring measuring({subjects.begin(), subjects.end()}, runs, room);
  while (!measuring.is_over()) measuring.go_on();
  return measuring.measurements();
}

Subject joined(std::string id, const std::vector<Subject>& parts) {
  Subject all{.id = std::move(id)};
  for (const Subject& part : parts) {
    all.bytes += part.bytes;
    all.workspace_bytes += part.workspace_bytes;
    if (all.failure.empty()) all.failure = part.failure;
  }
  all.open = [parts] {
    const auto runners = std::make_shared<std::vector<Runner>>();
    for (const Subject& part : parts) runners->push_back(part.open());
    return Runner{.run =
                      [runners] {
                        double us = 0;
                        for (const Runner& runner : *runners) us += runner.run();
                        return us;
                      },
                  .is_right =
                      [runners] {
                        return std::ranges::all_of(*runners, [](const Runner& runner) {
                          return !runner.is_right || runner.is_right();
                        });
                      }};
  };
  return all;
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
