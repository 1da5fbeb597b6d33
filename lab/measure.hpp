// The one way in which this project measures algorithms: in turns, on inputs that rotate, with a
// check of every result. What is measured may run on a GPU or on the CPU; this file knows neither.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace facesat::lab {

using Json = nlohmann::ordered_json;

// An algorithm that is ready to run.
struct Runner {
  // One run, with what has to happen before it and is not timed. Returns microseconds. Throws
  // Error.
  std::function<double()> run;
  std::function<bool()> is_right{};  // is the result of the last run? Null: it is not compared.
};

// An algorithm on the inputs of one case.
struct Subject {
  std::string id;
  Json fields = Json::object();  // of its row, besides those of the whole case
  double bytes = 0;              // that it has to read and write at least
  // Makes it ready to run; called once, before its first run. Throws Error.
  std::function<Runner()> open{};
  std::size_t workspace_bytes = 0;  // of the device's memory, which open() takes
  std::string failure{};            // why it cannot be measured; then open() is not called
  bool is_absent = false;  // it failed only because it is not for such a case, or is not installed
};

struct Measurement {
  std::vector<double> us{};       // of each run, sorted
  std::optional<bool> checked{};  // was every result right? nullopt: they are not compared
  std::string failure{};          // why there are no times
};

// Measures subjects in turns: one timed run of each, then the next of each, `runs` times. Before
// each timed run another one, on other inputs, brings the subject's code into the caches; what
// takes longer than 0.1 s has only one such run in all. What has taken two seconds in all after
// three timed runs has no more. Subjects whose workspaces exceed `room` bytes together are divided
// into groups that take their turns one group after the other.
// One measurement for each subject, in their order. Errors become failures; others are thrown.
std::vector<Measurement> measure(std::span<const Subject> subjects, int runs, std::size_t room);

// Subjects on a GPU, whose inputs are in its memory.
struct GpuSubjects {
  std::vector<Subject> subjects{};
  std::size_t room = 0;  // bytes that their workspaces may take together
};

// The q-quantile (0 .. 1) by nearest rank: the smallest measurement x for which at least the
// fraction q of all measurements are <= x. They must be sorted, and there must be at least one.
double quantile(const std::vector<double>& sorted, double q);

// A runner of something on the CPU: `prepare` is not timed. Both checks and preparation may be
// null.
Runner on_host(std::function<void()> run, std::function<bool()> is_right,
               std::function<void()> prepare = nullptr);

}  // namespace facesat::lab
