#include "app/detect/detect.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>
#include <unistd.h>

#include "app/common/device_jpegs.hpp"
#include "app/detect/blurred_videos.hpp"
#include "app/detect/item_reader.hpp"
#include "app/detect/layout.hpp"
#include "app/detect/output_set.hpp"
#include "app/detect/progress.hpp"
#include "app/detect/sink.hpp"
#include "app/detect/viewer.hpp"
#include "cascades/cascade_store.hpp"
#include "core/pyramid.hpp"
#include "library/detect/detector_pool.hpp"
#include "media/codec.hpp"
#include "media/source_name.hpp"
#include "results/annotate.hpp"
#include "results/format.hpp"
#include "results/inputs.hpp"
#include "results/journal.hpp"
#include "results/result_file.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"
#include "support/messages.hpp"

namespace facesat::app {
namespace {

// Makes the record of the item's picture, and the pictures that are written. Failures of the input
// become part of the record; failures that end the run become Item::error. Items with a record of
// an earlier run need nothing, except frames for a blurred video, which cannot be continued and
// starts over.
void complete_item(Item& item, const Detector& detector, const DetectCommand& command,
                   const OutputSet& outputs) {
  Record& record = item.record;
  const bool is_needed = !item.earlier || (item.frame && outputs.videos());
  if (!is_needed || record.failure) return;
  const auto write = [&](Picture picture) {
    picture = in_colour(std::move(picture));
    outputs.write(item, picture.pixels);
    if (command.show && !item.earlier) item.shown = with_boxes(picture.pixels, record.faces);
  };
  const bool has_pictures = outputs.has_pictures() || command.show;
  try {
    PendingPicture picture{[&item] { return item.open(); },
                           std::exchange(item.frame, std::nullopt)};
    item.stopped = !make_record(record, std::move(picture), detector, command.search, interrupted,
                                has_pictures ? write : std::function<void(Picture)>());
  } catch (...) {
    item.error = std::current_exception();
  }
}

// `viewer` may be null. Returns whether every item that was read has been written.
bool run_pipeline(ItemReader& reader, const Detector& detector, Sink& sink, Viewer* viewer,
                  Progress& progress, const DetectCommand& command, const OutputSet& outputs,
                  std::size_t in_flight) {
  using ItemPtr = std::shared_ptr<Item>;
  std::atomic<bool> stop = false;
  BlurredVideos videos(outputs.videos(), progress);
  const auto read = tbb::make_filter<void, ItemPtr>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
        std::optional<Item> item;
        if (!stop && !interrupted()) item = reader.next();
        if (item) return std::make_shared<Item>(std::move(*item));
        flow.stop();
        return ItemPtr();
      });
  const auto detect =
      tbb::make_filter<ItemPtr, ItemPtr>(tbb::filter_mode::parallel, [&](const ItemPtr& item) {
        if (stop || interrupted()) return ItemPtr();
        complete_item(*item, detector, command, outputs);
        item->release_input();
        return item->stopped ? ItemPtr() : item;
      });
  const auto write =
      tbb::make_filter<ItemPtr, void>(tbb::filter_mode::serial_in_order, [&](const ItemPtr& item) {
        if (!item) stop = true;  // the item was abandoned: nothing after it may be written
        if (viewer && interrupted()) stop = true;  // nor what the user has not seen
        if (!stop && !videos.take(*item)) stop = true;
        if (!stop) sink.take(*item);
        if (sink.stopped()) stop = true;
        if (!stop && viewer) viewer->show(*item);
      });
  tbb::parallel_pipeline(in_flight, read & detect & write);
  return !stop;
}

// Throws ArgumentError for options with which no picture could be processed.
std::vector<std::shared_ptr<const Cascade>> load_cascades(const DetectCommand& command) {
  check(command.detect);
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& name : command.cascades) {
    cascades.push_back(find_cascade(name));
    const Size window = cascades.back()->window;
    const Size small{2 * window.width, 2 * window.height};
    plan_pyramid(small, window, command.detect);
  }
  return cascades;
}

// Automatic: no progress if the results go to a terminal or the pictures are shown, because they
// already show how far the run is.
bool shows_progress(const DetectCommand& command) {
  if (command.quiet) return false;
  if (command.progress != ProgressChoice::automatic) return command.progress == ProgressChoice::on;
  return standard_error_is_terminal() && !command.show &&
         !(command.output == "-" && ::isatty(STDOUT_FILENO) != 0);
}

Journal::Mode journal_mode(const DetectCommand& command) {
  return command.retry_failed ? Journal::Mode::retry_failed
         : command.resume     ? Journal::Mode::resume
                              : Journal::Mode::fresh;
}

// A list or folder that is empty or missing is usually a mistake (find(1) failed, a disk is not
// mounted). Throws UsageError if earlier results would be replaced by none for that reason.
void refuse_to_replace_results_by_none(const DetectCommand& command, Inputs& inputs) {
  const bool replaces = !command.resume && command.output != "-" && has_contents(command.output);
  if (!replaces) return;
  if (are_all_missing(command))
    throw UsageError(fmt::format("{}: {}, so {} stays as it is", command.inputs.front(),
                                 command.inputs.front().starts_with('@')
                                     ? "none of the paths in this list exists"
                                     : "no such file or folder",
                                 command.output));
  if (!inputs.is_empty() || interrupted()) return;
  const std::string skipped = summary(inputs.skipped());
  throw UsageError(
      fmt::format("there is no picture or video among the inputs, so {} stays as it is{}{}",
                  command.output, skipped.empty() ? "" : "; ", skipped));
}

// The output, including what earlier runs have completed. An output that cannot be written counts
// as wrong usage here, because no input has been processed yet.
struct Output {
  Output(const DetectCommand& command, const Layout& layout) try
      : file(command.output),
        journal(file, layout, result_options(command, layout), journal_mode(command)) {
  } catch (const ClosedPipe&) {
    throw;
  } catch (const OutputError& error) {
    throw UsageError(error.what());
  }

  ResultFile file;
  Journal journal;
};

// What the user is told at the end.
class Report {
 public:
  Report(const DetectCommand& command, const Output& output, Progress& progress)
      : command_(command), output_(output), progress_(progress) {}

  // Says it unless the user wants quiet.
  void note(const std::string& sentence) const {
    if (!command_.quiet) say(sentence);
  }

  void counts(const Counts& counts, std::chrono::steady_clock::duration time) const {
    note(summary(counts, time) +
         (command_.shard.is_all()
              ? ""
              : fmt::format(" (shard {} of {})", command_.shard.index, command_.shard.count)));
  }

  void inputs(const Counts& counts, const ItemReader& reader) const {
    if (counts.skipped > 0)
      note(fmt::format("{} of the inputs were in {} already", counts.skipped, command_.output));
    if (const std::string text = summary(reader.skipped()); !text.empty()) note(text);
    if (reader.namesakes() > 0)
      note(fmt::format("inputs that have the same name in the results as an earlier input: {}",
                       reader.namesakes()));
    if (reader.not_utf8() > 0 && command_.format->is_utf8)
      note(
          fmt::format("inputs whose names are not valid UTF-8: {}; JSON has U+FFFD for each "
                      "invalid byte, CSV has the names unchanged",
                      reader.not_utf8()));
  }

  void earlier_runs() const {
    const Journal& journal = output_.journal;
    if (journal.ambiguous() > 0)
      say(
          fmt::format("{} inputs share their name with another input, so it is not known which of "
                      "them {} has, and some may be missing from it: use another output file",
                      journal.ambiguous(), command_.output));
    if (journal.changed() > 0)
      note(fmt::format("inputs that changed since an earlier run, and were processed again: {}",
                       journal.changed()));
    if (const std::size_t failures = journal.earlier_failures(); failures > 0) {
      const std::string sentence =
          fmt::format("inputs that failed in an earlier run{}: {}{}",
                      command_.retry_failed ? " and are not inputs of this run" : "", failures,
                      command_.retry_failed ? "" : "; --retry-failed tries them again");
      if (command_.format->tells_failures)
        note(sentence);
      else
        say(sentence);  // even with -q: the results do not have it
    }
  }

  void unfinished(bool was_ended) const {
    note(std::string(was_ended ? "ended in the window" : "interrupted") +
         (output_.file.is_regular() ? "; --resume goes on from here" : ""));
  }

 private:
  void say(const std::string& sentence) const { progress_.message("facesat: " + sentence); }

  const DetectCommand& command_;
  const Output& output_;
  Progress& progress_;
};

// The driver starts all GPUs that it sees, which takes 0.2 s for each: it is shown only the one
// that is used, unless the user has chosen. To be called before other threads and CUDA start.
void hide_other_devices(const BackendOptions& options) {
  constexpr int not_if_set = 0;
  if (options.device == "0") ::setenv("CUDA_VISIBLE_DEVICES", "0", not_if_set);
}

std::unique_ptr<Detector> make_detector(const DetectCommand& command,
                                        const std::vector<std::shared_ptr<const Cascade>>& cascades,
                                        const Detector::Notify& notify) {
  for (const auto& cascade : cascades)
    for (const std::string& warning : cascade->warnings) notify(warning);
  BackendOptions backend = command.backend;
  backend.in_background = true;
  backend.measures_steps = false;
  DetectOptions detect = command.detect;
  for (std::size_t i = 0; i < cascades.size(); ++i)  // it may be a path
    if (command.cascades[i] == command.detect.inside_of) detect.inside_of = cascades[i]->name;
  return std::make_unique<Detector>(cascades, detect, backend, notify);
}

// A thread for each core. Those that devices work for mostly wait.
std::size_t default_jobs(const Detector& detector) {
  constexpr int for_devices = 8;
  const int cores = tbb::info::default_concurrency();
  return static_cast<std::size_t>(detector.pool().may_use_devices() ? std::max(cores, for_devices)
                                                                    : cores);
}

// How many pictures and frames are worked on at once. Results are written in the order of the
// inputs, and wait meanwhile. They are small: many may wait for an input that takes much longer
// than others. (Ctrl+C discards those that wait.) Frames with blurred faces wait as well, and are
// large. Where pictures wait for the user, a few are enough to have the next one ready. A live
// frame that waited would not be the newest one any more.
std::size_t items_in_flight(const DetectCommand& command, std::size_t jobs) {
  if (command.is_live()) return 1;
  if (command.show) return std::min<std::size_t>(2 * jobs, 4);
  return (command.blur.empty() ? 32 : 4) * jobs;
}

}  // namespace

int run_detect(const DetectCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  hide_other_devices(command.backend);
  const auto cascades = load_cascades(command);
  std::optional<Viewer> viewer;
  if (command.show) viewer.emplace();
  Progress progress(shows_progress(command));
  const auto notify = [&](const std::string& sentence) {
    if (!command.quiet) progress.message("facesat: " + sentence);
  };
  const auto detector = make_detector(command, cascades, notify);
  const Layout layout = layout_of(command, cascades);
  OutputSet outputs(command);
  const InputArguments arguments{.inputs = command.inputs,
                                 .recursive = command.recursive,
                                 .null_separated = command.null_separated,
                                 .archives = true,
                                 .live = true,
                                 .excluded = outputs.folders()};
  Inputs inputs(arguments);
  catch_interrupts();
  refuse_to_replace_results_by_none(command, inputs);
  Output output(command, layout);
  outputs.protect(output.file.path());

  keep_standard_error_to_ourselves();
  prepare_codecs({command.search.max_pixels});
  const std::size_t jobs = command.jobs > 0 ? command.jobs : default_jobs(*detector);
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, jobs);
  if (inputs.is_repeatable() && !command.is_live())
    progress.count_in_background(Inputs(arguments), command.shard);
  // Frames of a camera are decoded by the first of the devices that search them.
  std::optional<JpegsOnDevice> jpegs;
  if (command.is_live() && camera_name(command.inputs.front()))
    if (const Backends& backends = detector->pool().backends(); backends.on_gpu())
      jpegs.emplace(backends.devices().front().id);
  detector->announce();
  if (!output.journal.remark().empty()) progress.message("facesat: " + output.journal.remark());

  ItemReader reader(std::move(inputs), command.shard, output.journal, outputs.has_pictures(),
                    command.search.max_pixels, command.frames);
  Sink sink(output.file, output.journal, layout, progress, command.quiet);
  bool all_written = true;
  const auto run = [&] {
    tbb::task_arena arena(static_cast<int>(jobs));
    arena.execute([&] {
      all_written = run_pipeline(reader, *detector, sink, viewer ? &*viewer : nullptr, progress,
                                 command, outputs, items_in_flight(command, jobs));
    });
  };
  if (viewer)
    viewer->run(run);
  else
    run();
  const Report report(command, output, progress);
  try {
    sink.rethrow();
  } catch (const OutputError& error) {
    if (error.code != 0 && output.file.is_regular())
      report.note("what was found so far is kept; --resume goes on from there");
    throw;
  }
  // The user may end the run at the last picture.
  const bool was_ended = viewer && viewer->was_ended();
  const bool complete = command.is_live() ? true
                        : was_ended       ? all_written && reader.is_done()
                                          : !interrupted();
  output.journal.finish(output.file, complete);
  output.file.close();
  progress.finish();
  report.counts(sink.counts, std::chrono::steady_clock::now() - start);
  for (const std::string& sentence : detector->failures()) report.note(sentence);
  report.inputs(sink.counts, reader);
  report.earlier_runs();
  if (!complete) report.unfinished(was_ended);
  if (!complete && !was_ended) end_as_interrupted();
  if (sink.counts.failures + output.journal.earlier_failures() + output.journal.ambiguous() > 0)
    return 1;
  if (complete && !command.resume) output.journal.remove();
  return 0;
}

}  // namespace facesat::app
