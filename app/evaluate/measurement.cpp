#include "app/evaluate/measurement.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_pipeline.h>

#include "core/frame_detector.hpp"
#include "core/grouping.hpp"
#include "core/pyramid.hpp"
#include "support/errors.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

// The numbers of neighbours that are tried.
constexpr std::array neighbors_tried{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     12, 14, 17, 20, 25, 30, 40, 50, 70, 100};

std::vector<Window> windows_of(const std::vector<Face>& faces, std::size_t cascade) {
  std::vector<Window> windows;
  for (const Face& face : faces)
    if (face.cascade == cascade) windows.push_back({.score = face.score, .box = face.box});
  return windows;
}

// What Detector::detect() returns for these options, from whole windows.
std::vector<Face> faces_of(const std::vector<Window>& windows, int min_neighbors, Size picture,
                           const DetectOptions& options, const ShouldStop& should_stop) {
  std::vector<Face> faces = group_faces(windows, min_neighbors, should_stop);
  trim(faces, picture, options);
  sort_by_place(faces);
  return faces;
}

std::uint64_t windows_searched(Size picture, Size window, const DetectOptions& options) {
  std::uint64_t count = 0;
  for (const Level& level : plan_pyramid(picture, window, options).levels)
    count += level.grid.area();
  return count;
}

std::shared_ptr<const Cascade> first_stages(const Cascade& cascade, std::size_t count) {
  auto cut = std::make_shared<Cascade>(cascade);
  cut->stages.resize(count);
  return cut;
}

// The whole windows, whatever the number of neighbours and the scores.
DetectOptions search_options(DetectOptions options) {
  options.min_neighbors = 0;
  options.min_score = std::numeric_limits<double>::lowest();
  options.clip = false;
  return options;
}

}  // namespace

struct PictureResult {
  // What the first stages of a cascade find in a picture.
  struct StageCounts {
    training::Counts faces;
    std::size_t false_windows = 0;
  };

  // What a cascade finds in a picture.
  struct Part {
    std::uint64_t searched = 0;  // windows
    std::vector<training::Counts> by_neighbors;
    std::vector<training::Step> by_score, by_window;
    std::vector<StageCounts>
        by_stages;            // of all stages, of one less, ... to the fewest that are tried
    std::vector<Face> faces;  // with the options as given
    training::Matches matches;
  };

  Record record;
  std::vector<Part> parts;  // for each cascade
};

namespace {

using Part = PictureResult::Part;

void add(training::Counts& sum, const training::Counts& more) {
  sum.found += more.found;
  sum.false_alarms += more.false_alarms;
}
void add(PictureResult::StageCounts& sum, const PictureResult::StageCounts& more) {
  add(sum.faces, more.faces);
  sum.false_windows += more.false_windows;
}
template <class Sums>
void add_each(Sums& sums, const Sums& more) {
  sums.resize(std::max(sums.size(), more.size()));
  for (std::size_t i = 0; i < more.size(); ++i) add(sums[i], more[i]);
}

std::vector<Point> points_of(const std::vector<training::OperatingPoint>& curve) {
  std::vector<Point> points;
  for (const auto& [value, counts] : curve) points.push_back({value, counts, {}});
  return points;
}

Curve curve_by_neighbors(const std::vector<training::Counts>& sums) {
  Curve curve{Sweep::neighbors, {}};
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (i == 0 || sums[i].found + sums[i].false_alarms > 0)
      curve.points.push_back({static_cast<double>(neighbors_tried[i]), sums[i], {}});
  return curve;
}

Curve curve_by_windows(const Part& sums) {
  Curve curve{Sweep::windows, points_of(training::curve_of(sums.by_window))};
  for (Point& point : curve.points)
    point.window_rate = static_cast<double>(point.counts.false_alarms) /
                        static_cast<double>(std::max<std::uint64_t>(sums.searched, 1));
  return curve;
}

Curve curve_by_stages(const Part& sums, std::size_t stages, std::size_t cuts) {
  Curve curve{Sweep::stages, {}};
  for (std::size_t cut = std::min(cuts, sums.by_stages.size()); cut-- > 0;) {
    const PictureResult::StageCounts& counts = sums.by_stages[cut];
    curve.points.push_back({static_cast<double>(stages - cut), counts.faces,
                            static_cast<double>(counts.false_windows) /
                                static_cast<double>(std::max<std::uint64_t>(sums.searched, 1))});
  }
  return curve;
}

}  // namespace

struct Measurement::State {
  // The cascade that is evaluated, and what was found with it so far.
  struct Subject {
    std::string name;
    std::shared_ptr<const Cascade> cascade;
    // By stages: for all of them, one less, and so on.
    std::vector<Detector> cuts;
    // The number of cuts that all pictures so far have been searched with.
    std::unique_ptr<std::atomic<std::size_t>> cuts_left;
    Part sums;
    CascadeResult result;
  };

  State(const EvaluateCommand& evaluate, ShouldStop stop)
      : command(evaluate), should_stop(std::move(stop)) {}

  const EvaluateCommand& command;
  ShouldStop should_stop;
  std::vector<Subject> subjects;
  std::optional<Detector> detector;
  std::size_t pictures = 0;  // added
  std::size_t faces = 0;
  Evaluation sums;

  Part measure(const TestPicture& picture, const Picture& decoded, const Subject& subject,
               const std::vector<Window>& windows) const;
  void measure_stages(const TestPicture& picture, const Picture& decoded, const Subject& subject,
                      Part& part) const;
};

Measurement::Measurement(const EvaluateCommand& command, const Detector::Notify& notify,
                         ShouldStop should_stop)
    : state_(std::make_unique<State>(command, std::move(should_stop))) {
  check(command.detect);
  const DetectOptions options = search_options(command.detect);
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& name : command.cascades) {
    const auto cascade = cascades.emplace_back(find_cascade(name));
    for (const std::string& warning : cascade->warnings) notify(warning);
    plan_pyramid({2 * cascade->window.width, 2 * cascade->window.height}, cascade->window,
                 options);  // throws for options with which nothing can be searched
    State::Subject& subject = state_->subjects.emplace_back();
    subject.name = name;
    subject.cascade = cascade;
    const std::size_t stages = cascade->stages.size();
    for (std::size_t cut = 0; command.has(Sweep::stages) && cut < stages; ++cut)
      subject.cuts.emplace_back(std::vector{first_stages(*cascade, stages - cut)}, options,
                                command.backend, notify);
    subject.cuts_left = std::make_unique<std::atomic<std::size_t>>(subject.cuts.size());
  }
  BackendOptions backend = command.backend;
  backend.in_background = true;
  backend.measures_steps = false;
  state_->detector.emplace(std::move(cascades), options, backend, notify);
}

Measurement::~Measurement() = default;

void Measurement::announce() const {
  state_->detector->announce();
}

std::vector<std::string> Measurement::failures() const {
  return state_->detector->failures();
}

std::size_t Measurement::faces() const {
  return state_->faces;
}

std::size_t Measurement::failed_pictures() const {
  return state_->sums.failures;
}

Part Measurement::State::measure(const TestPicture& picture, const Picture& decoded,
                                 const Subject& subject, const std::vector<Window>& windows) const {
  const auto& objects = picture.annotated.objects;
  const DetectOptions& options = command.detect;
  const Size size = decoded.size();
  Part part;
  part.searched = windows_searched(size, subject.cascade->window, options);
  for (const int neighbors : neighbors_tried)
    part.by_neighbors.push_back(training::counts_of(training::match(
        objects, faces_of(windows, neighbors, size, options, should_stop), command.match)));
  part.faces = faces_of(windows, options.min_neighbors, size, options, should_stop);
  part.matches = training::match(objects, part.faces, command.match);
  part.by_score = training::steps_of(objects, part.faces, command.match);
  part.by_window = training::steps_of(objects, faces_of(windows, 0, size, options, should_stop),
                                      command.match, true);
  measure_stages(picture, decoded, subject, part);
  return part;
}

void Measurement::State::measure_stages(const TestPicture& picture, const Picture& decoded,
                                        const Subject& subject, Part& part) const {
  DetectOptions options = command.detect;
  options.min_score = std::numeric_limits<double>::lowest();  // of all stages
  const auto& objects = picture.annotated.objects;
  for (std::size_t cut = 0; cut < *subject.cuts_left; ++cut) {
    const std::vector<Window> windows =
        windows_of(subject.cuts[cut].detect(image_view(decoded), should_stop).faces, 0);
    if (windows.size() > most_windows_by_stages) {  // fewer stages accept even more
      std::size_t left = *subject.cuts_left;
      while (left > cut && !subject.cuts_left->compare_exchange_weak(left, cut)) {
      }
      return;
    }
    const auto grouped =
        faces_of(windows, options.min_neighbors, decoded.size(), options, should_stop);
    const auto each = faces_of(windows, 0, decoded.size(), options, should_stop);
    part.by_stages.push_back(
        {training::counts_of(training::match(objects, grouped, command.match)),
         training::counts_of(training::match_each(objects, each, command.match)).false_alarms});
  }
}

std::shared_ptr<const PictureResult> Measurement::measure(const TestPicture& picture) const {
  auto result = std::make_shared<PictureResult>();
  result->record.image = picture.annotated.name;
  const auto use = [&](const Picture& decoded) {
    for (std::size_t i = 0; i < state_->subjects.size(); ++i)
      result->parts.push_back(state_->measure(picture, decoded, state_->subjects[i],
                                              windows_of(result->record.faces, i)));
    result->record.faces = {};  // windows of all cascades
  };
  const bool is_complete =
      make_record(result->record, {[&picture] { return picture.open(); }}, *state_->detector,
                  state_->command.search, state_->should_stop, use);
  return is_complete ? result : nullptr;
}

std::string Measurement::add(const TestPicture& picture, const PictureResult& result) {
  const std::size_t number = state_->pictures++;
  Evaluation& sums = state_->sums;
  const Record& record = result.record;
  const auto& [file, name, objects, size] = picture.annotated;
  if (record.failure) {
    ++sums.failures;
    return fmt::format("{}: {}", name, record.failure->message);
  }
  ++sums.pictures;
  const auto ignored = static_cast<std::size_t>(
      std::ranges::count(objects, true, &training::AnnotatedObject::ignored));
  sums.ignored += ignored;
  sums.objects += objects.size() - ignored;
  for (std::size_t i = 0; i < result.parts.size(); ++i) {
    const Part& part = result.parts[i];
    State::Subject& subject = state_->subjects[i];
    state_->faces += part.faces.size();
    subject.sums.searched += part.searched;
    add_each(subject.sums.by_neighbors, part.by_neighbors);
    add_each(subject.sums.by_stages, part.by_stages);
    for (auto steps : {&Part::by_score, &Part::by_window})
      (subject.sums.*steps)
          .insert((subject.sums.*steps).end(), (part.*steps).begin(), (part.*steps).end());
    app::add(subject.result.counts, training::counts_of(part.matches));
    for (std::size_t k = 0; k < objects.size(); ++k)
      if (!objects[k].ignored && part.matches.found[k] == 0)
        subject.result.misses.push_back({number, objects[k].box});
    for (std::size_t k = 0; k < part.faces.size(); ++k)
      if (part.matches.verdicts[k] == training::Verdict::false_alarm)
        subject.result.false_alarms.push_back({number, part.faces[k]});
  }
  if (size.area() > 0 && size != record.size)
    return fmt::format("{}: it has {}x{} pixels, but was annotated with {}x{}", name,
                       record.size.width, record.size.height, size.width, size.height);
  return record.warning.empty() ? "" : fmt::format("{}: {}", name, record.warning);
}

Evaluation Measurement::finish() {
  Evaluation& sums = state_->sums;
  if (sums.pictures == 0)
    throw UsageError(fmt::format("{}: of {}, none could be read; --root says where they are",
                                 state_->command.annotations, plural(state_->pictures, "picture")));
  for (State::Subject& subject : state_->subjects) {
    CascadeResult& result = subject.result;
    result.name = subject.name;
    result.window = subject.cascade->window;
    result.stages = subject.cascade->stages.size();
    const auto by_score = training::curve_of(subject.sums.by_score);
    result.average_precision = training::average_precision(by_score, sums.objects);
    result.curves.push_back(curve_by_neighbors(subject.sums.by_neighbors));
    result.curves.push_back({Sweep::score, points_of(by_score)});
    result.curves.push_back(curve_by_windows(subject.sums));
    if (!subject.cuts.empty())
      result.curves.push_back(curve_by_stages(subject.sums, result.stages, *subject.cuts_left));
    result.fewest_stages = result.stages + 1 - *subject.cuts_left;
    sums.cascades.push_back(std::move(result));
  }
  return std::move(sums);
}

bool measure_all(const std::vector<TestPicture>& pictures, Measurement& measurement,
                 std::size_t in_flight, const std::function<void(const std::string&)>& added,
                 const ShouldStop& should_stop) {
  struct Measured {
    std::size_t picture;
    std::shared_ptr<const PictureResult> result;
  };
  std::atomic<bool> stop = false;
  std::size_t next = 0;
  const auto read = tbb::make_filter<void, std::size_t>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) -> std::size_t {
        if (next < pictures.size() && !stop && !should_stop()) return next++;
        flow.stop();
        return 0;
      });
  const auto measure = tbb::make_filter<std::size_t, Measured>(
      tbb::filter_mode::parallel, [&](std::size_t picture) -> Measured {
        if (stop || should_stop()) return {picture, nullptr};
        return {picture, measurement.measure(pictures[picture])};
      });
  const auto add = tbb::make_filter<Measured, void>(
      tbb::filter_mode::serial_in_order, [&](const Measured& item) {
        if (!item.result) stop = true;  // it was abandoned: nothing after it counts
        if (stop) return;
        added(measurement.add(pictures[item.picture], *item.result));
      });
  tbb::parallel_pipeline(in_flight, read & measure & add);
  return !stop && next == pictures.size();
}

}  // namespace facesat::app
