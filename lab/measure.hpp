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
  std::function<bool()> is_right{};    // is the result of the last run? Null: it is not compared.
  std::function<void()> note_timed{};  // called after each timed run; null: nothing to be noted
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
  std::vector<double> us{};         // of each run, sorted
  std::optional<bool> all_right{};  // was every result right? nullopt: they are not compared
  std::string failure{};            // why there are no times
};

// Measures subjects in turns: one timed run of each, then the next of each, `runs` times. Before
// each timed run another one, on other inputs, brings the subject's code into the caches; what
// takes longer than 0.1 s has only one such run in all. What has taken two seconds in all after
// three timed runs has no more. Subjects whose workspaces exceed `room` bytes together are divided
// into groups that take their turns one group after the other. Errors become failures; others are
// thrown.
class Measuring {
 public:
  Measuring(std::vector<Subject> subjects, int runs, std::size_t room);

  bool is_over() const { return done_count() == subjects_.size(); }
  // The next turn of a subject: it is made ready and runs once to warm up, or has a timed run.
  void go_on();
  // The number of subjects, from the first on, whose measurements are complete.
  std::size_t done_count() const { return group_; }
  const std::vector<Subject>& subjects() const { return subjects_; }
  // One for each subject, in their order.
  const std::vector<Measurement>& measurements() const { return measurements_; }

 private:
  struct State {  // of a subject while its group takes turns
    Runner runner{};
    double last_us = 0, total_us = 0;
  };

  void open(std::size_t subject);
  void run(std::size_t subject);
  bool has_enough(std::size_t subject) const;
  template <class Attempt>
  void attempt(std::size_t subject, const Attempt& what);
  std::size_t end_of_group() const;

  std::vector<Subject> subjects_;
  std::vector<Measurement> measurements_;
  std::vector<State> states_;
  std::size_t runs_, room_;
  std::size_t group_ = 0, end_;  // the first subject of the group, and the first after it
  std::size_t next_ = 0;         // the subject whose turn is next
  std::size_t round_ = 0;        // 0: they are made ready
};

// All turns, one after the other.
std::vector<Measurement> measure(std::span<const Subject> subjects, int runs, std::size_t room);

// These subjects, one after the other, as one: times and bytes add up, and the result is right if
// all are.
Subject joined(std::string id, const std::vector<Subject>& parts);

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
