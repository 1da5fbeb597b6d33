#include "app/detect/detect.hpp"

#include <chrono>
#include <thread>

#include "cascades/cascade_store.hpp"
#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

#include "app/detect/progress.hpp"
#include "app/detect/workers.hpp"
#include "app/errors.hpp"
#include "app/interrupt.hpp"
#include "app/io/annotate.hpp"
#include "app/io/codec.hpp"
#include "app/io/files.hpp"
#include "app/io/inputs.hpp"
#include "app/io/result_file.hpp"
#include "app/io/video.hpp"
#include "app/messages.hpp"

namespace facesat::app {
namespace {

// One picture or frame on its way through the pipeline.
struct Item {
  Record record;
  std::filesystem::path path;
  std::string picture_name;      // of what is written about it; empty if nothing is
  std::optional<Picture> frame;  // of a film: decoded already
  bool last_of_input = true;
  bool earlier = false;             // an earlier run has its record
  std::exception_ptr output_error;  // its pictures could not be written
};

// Where items come from: pictures as paths, films frame by frame. Used by one thread at a time.
class Source {
 public:
  Source(Inputs inputs, EarlierResults earlier, bool writes_pictures)
      : inputs_(std::move(inputs)),
        earlier_(std::move(earlier)),
        writes_pictures_(writes_pictures) {}

  std::optional<Item> next() {
    while (true) {
      std::optional<Item> item = film_ ? next_frame() : next_input();
      if (item || !(film_ || more_)) return item;
    }
  }

 private:
  std::optional<Item> next_input() {
    std::optional<Input> input = inputs_.next();
    more_ = input.has_value();
    if (!input) return std::nullopt;
    input_ = std::move(*input);
    if (input_.kind == Input::Kind::failure) return failed("read", input_.failure);
    if (input_.kind == Input::Kind::picture) return named({}, std::nullopt);
    try {
      film_ = open_video(input_.path);
      frame_ = 0;
      upcoming_ = film_->next();
      if (!upcoming_) throw InputError("decode", "this film has no frame that can be decoded");
    } catch (const InputError& error) {
      film_.reset();
      return failed(error.kind, error.what());
    }
    return std::nullopt;
  }

  // One frame is read ahead, so that the last one is known as such.
  std::optional<Item> next_frame() {
    Item item;
    item.frame = std::move(upcoming_->picture);
    item.record.time = upcoming_->time;
    upcoming_ = film_->next();
    item.last_of_input = !upcoming_;
    if (!upcoming_) film_.reset();
    return named(std::move(item), frame_++);
  }

  Item failed(const std::string& kind, const std::string& message) {
    Item item = named({}, std::nullopt);
    item.record.failure = Failure{kind, message};
    return item;
  }

  Item named(Item item, std::optional<int> frame) {
    item.path = input_.path;
    item.record.image = input_.name;
    item.record.frame = frame;
    if (writes_pictures_) item.picture_name = names_.add(input_.name, frame);
    try {
      item.earlier = earlier_.take(input_.name, frame);
    } catch (const InputError& error) {
      item.record.failure = Failure{error.kind, error.what()};
    }
    return item;
  }

  Inputs inputs_;
  EarlierResults earlier_;
  bool writes_pictures_;
  PictureNames names_;
  Input input_;
  bool more_ = true;
  std::unique_ptr<Video> film_;
  std::optional<Frame> upcoming_;
  int frame_ = 0;
};

void write_pictures(const Item& item, View<const Bgr> picture, const DetectCommand& command) {
  const std::vector<FoundFace>& faces = item.record.faces;
  if (!command.annotate.empty()) {
    const std::filesystem::path file = std::filesystem::path(command.annotate) / item.picture_name;
    make_folder(file.parent_path());
    write_picture(file, with_boxes(picture, faces).view());
  }
  if (!command.crops.empty()) write_crops(command.crops, item.picture_name, picture, faces);
}

// Decodes and detects; failures become part of the record.
void process(Item& item, Workers& workers, const DetectCommand& command) {
  Record& record = item.record;
  if (item.earlier || record.failure) return;
  try {
    const Picture picture = item.frame ? *item.frame : read_picture(item.path);
    item.frame.reset();
    record.size = picture.pixels.size;
    record.warning = picture.warning;
    record.faces = workers.detect(picture.pixels);
    write_pictures(item, picture.pixels, command);
  } catch (const InputError& error) {
    record.failure = Failure{error.kind, error.what()};
  } catch (const MemoryError& error) {
    record.failure = Failure{"memory", error.what()};
  } catch (const std::bad_alloc&) {
    record.failure = Failure{"memory", "there is not enough memory for this picture"};
  } catch (const ArgumentError& error) {
    record.failure = Failure{"argument", error.what()};
  } catch (...) {
    item.output_error = std::current_exception();
  }
}

// Writes records in input order; stops for good at the first that cannot be written.
class Sink {
 public:
  Sink(ResultFile& file, const Layout& layout, Progress& progress, const DetectCommand& command)
      : file_(file), layout_(layout), progress_(progress), command_(command) {}

  void take(const Item& item) {
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

  bool stopped() const { return error_ != nullptr; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

  Counts counts;

 private:
  void write(const Record& record) {
    file_.write(layout_.to_text(record));
    ++counts.records;
    counts.faces += record.faces.size();
    counts.failures += record.failure.has_value();
    const std::string& remark = record.failure ? record.failure->message : record.warning;
    const bool told_elsewhere = layout_.format == Format::jsonl;  // CSV has no place for it
    if (!remark.empty() && !(told_elsewhere && command_.quiet))
      progress_.message(fmt::format("facesat: {}: {}", record.image, remark));
  }

  ResultFile& file_;
  const Layout& layout_;
  Progress& progress_;
  const DetectCommand& command_;
  std::exception_ptr error_;
};

void run_pipeline(Source& source, Workers& workers, Sink& sink, const DetectCommand& command,
                  std::size_t in_flight) {
  using ItemPtr = std::shared_ptr<Item>;
  std::atomic<bool> stop = false;
  const auto read = tbb::make_filter<void, ItemPtr>(
      tbb::filter_mode::serial_in_order, [&](tbb::flow_control& flow) {
        std::optional<Item> item;
        if (!stop && !interrupted()) item = source.next();
        if (item) return std::make_shared<Item>(std::move(*item));
        flow.stop();
        return ItemPtr();
      });
  const auto detect =
      tbb::make_filter<ItemPtr, ItemPtr>(tbb::filter_mode::parallel, [&](const ItemPtr& item) {
        if (stop || interrupted()) return ItemPtr();
        process(*item, workers, command);
        return item;
      });
  const auto write =
      tbb::make_filter<ItemPtr, void>(tbb::filter_mode::serial_in_order, [&](const ItemPtr& item) {
        if (!item) stop = true;  // given up: nothing behind it may be written
        if (!stop) sink.take(*item);
        if (sink.stopped()) stop = true;
      });
  tbb::parallel_pipeline(in_flight, read & detect & write);
}

std::vector<std::shared_ptr<const Cascade>> load_cascades(const std::vector<std::string>& names) {
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& name : names) cascades.push_back(find_cascade(name));
  return cascades;
}

Layout layout_of(const DetectCommand& command,
                 const std::vector<std::shared_ptr<const Cascade>>& cascades) {
  Layout layout{command.format, {}};
  for (const auto& cascade : cascades) layout.cascades.push_back(cascade->name);
  return layout;
}

bool shows_progress(const DetectCommand& command) {
  if (command.quiet) return false;
  if (command.progress != ProgressChoice::automatic) return command.progress == ProgressChoice::on;
  return standard_error_is_terminal();
}

// Standard input can be read only once, so what comes from there cannot be counted beforehand.
bool can_be_counted(const DetectCommand& command) {
  return std::find(command.inputs.begin(), command.inputs.end(), "-") == command.inputs.end();
}

}  // namespace

int run_detect(const DetectCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  if (command.backend == BackendChoice::cuda)
    throw UsageError("--backend cuda: this build has no CUDA backend");
  if (!command.sat.empty())
    throw UsageError(
        fmt::format("--sat {}: this build has no SAT algorithms to choose from", command.sat));
  check(command.detect);
  const auto cascades = load_cascades(command.cascades);
  const Layout layout = layout_of(command, cascades);
  const auto all_inputs = [&] {
    return Inputs(command.inputs, command.recursive, {command.annotate, command.crops});
  };
  EarlierResults earlier;
  if (command.resume) earlier = EarlierResults::read(command.output, layout);
  const std::size_t earlier_failures = earlier.failures();
  for (const std::string& folder : {command.annotate, command.crops}) make_folder(folder);
  Inputs inputs = all_inputs();
  ResultFile file(command.output, earlier.complete_bytes());
  if (earlier.complete_bytes() == 0) file.write(layout.header());

  keep_standard_error_to_ourselves();
  catch_interrupts();
  const std::size_t jobs =
      command.jobs > 0 ? command.jobs : std::max(1u, std::thread::hardware_concurrency());
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, jobs);
  Progress progress(shows_progress(command));
  if (can_be_counted(command)) progress.count_in_background(all_inputs());
  if (!command.quiet && command.backend == BackendChoice::automatic)
    progress.message("facesat: detecting on the CPU (this build has no CUDA backend)");

  Source source(std::move(inputs), std::move(earlier),
                !command.annotate.empty() || !command.crops.empty());
  Workers workers(cascades, command.detect);
  Sink sink(file, layout, progress, command);
  run_pipeline(source, workers, sink, command, 2 * jobs);
  sink.rethrow();
  file.close();
  progress.finish();
  if (!command.quiet) {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    progress.message(summary(sink.counts, seconds.count()));
    if (sink.counts.skipped > 0)
      progress.message(fmt::format("facesat: {} of the inputs were in {} already",
                                   sink.counts.skipped, command.output));
  }
  if (interrupted()) end_as_interrupted();
  return sink.counts.failures + earlier_failures > 0 ? 1 : 0;
}

}  // namespace facesat::app
