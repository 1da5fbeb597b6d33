#include "datasets/positives.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/cpu/gray.hpp"
#include "core/resample.hpp"
#include "core/rules.hpp"
#include "datasets/backgrounds.hpp"
#include "datasets/sentences.hpp"
#include "datasets/vec_file.hpp"
#include "results/inputs.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;
using Gray = Image<std::uint8_t>;

// ---- what there is to read

// A picture with objects.
struct Task {
  std::string name;
  std::function<Gray()> read;              // throws InputError
  std::vector<AnnotatedObject> objects{};  // none: the whole picture is one
  bool is_object = false;                  // the whole picture
  Size size{};                             // that it should have; empty: unknown
};

Gray gray_of(const Picture& picture) {
  Gray gray(picture.size());
  if (picture.luma.data)
    copy(picture.luma, gray.view());
  else  // isolated, so that this thread does not begin another picture while it waits
    tbb::this_task_arena::isolate([&] { cpu::to_gray(picture.pixels, gray.view()); });
  return gray;
}

class Tasks {
 public:
  explicit Tasks(const PositiveOptions& options) : options_(options) {}

  void add(const std::string& source) {
    const std::size_t before = tasks.size() + failures;
    read(source);
    if (tasks.size() + failures > before) return;
    sentences.add(source + ": there are no objects in it");
    ++failures;
  }

  std::vector<Task> tasks;
  Sentences sentences;
  std::size_t failures = 0;  // of folders and the like

 private:
  void read(const std::string& source) {
    std::error_code ignored;
    const bool is_folder = fs::is_directory(source, ignored);
    if (!is_folder && (has_extension(source, {".vec"}) || is_vec_file(source)))
      add_samples(source);
    else if (is_folder ? has_annotations(source) : !holds_pictures(source))
      add_annotations(source);
    else
      add_pictures(source);
  }

  // Is this a picture, an archive or a list of them, by its name or its beginning?
  static bool holds_pictures(const std::string& source) {
    if (source.starts_with('@') || has_extension(source, picture_extensions()) ||
        has_extension(source, archive_extensions()))
      return true;
    try {
      return match_picture(InputFile(source).beginning()) == Match::yes;
    } catch (const InputError&) {
      return false;
    }
  }

  void add_samples(const std::string& source) {
    const auto samples = std::make_shared<Samples>(read_vec(source, options_.samples.window));
    for (std::size_t i = 0; i < samples->count(); ++i)
      tasks.push_back({.name = fmt::format("{}, sample {}", source, i + 1),
                       .read =
                           [samples, i] {
                             Gray gray(samples->window);
                             copy((*samples)[i], gray.view());
                             return gray;
                           },
                       .is_object = true});
  }

  void add_annotations(const std::string& source) {
    Annotations found = read_annotations(source, options_.annotations);
    sentences.add(std::move(found.warnings));
    for (AnnotatedPicture& picture : found.pictures)
      if (!picture.objects.empty())
        tasks.push_back({.name = picture.name,
                         .read =
                             [file = picture.file, reading = options_.reading] {
                               return gray_of(read_picture(file, {}, reading));
                             },
                         .objects = std::move(picture.objects),
                         .size = picture.size});
  }

  void add_pictures(const std::string& source) {
    Inputs inputs({.inputs = {source}, .recursive = true, .archives = true, .excluded = {}});
    while (const std::optional<Input> input = inputs.next()) {
      if (input->kind == Input::Kind::picture) {
        tasks.push_back({.name = input->name,
                         .read =
                             [input = *input, reading = options_.reading] {
                               return gray_of(
                                   input.member
                                       ? read_picture(InputFile(input.member->read()), {}, reading)
                                       : read_picture(input.path, {}, reading));
                             },
                         .is_object = true});
        continue;
      }
      const bool is_video = input->kind == Input::Kind::video;
      sentences.add(fmt::format("{}: {}", input->name,
                                is_video ? "this is a video and no picture" : input->failure));
      ++failures;
    }
  }

  const PositiveOptions& options_;
};

// ---- samples of a picture

// What a picture gives.
struct Found {
  struct Object {
    std::vector<Gray> samples{};
    Gray cut_out{};  // instead of samples, for what is distorted later
  };
  std::vector<Object> objects{};
  std::vector<std::string> sentences{};
  PositiveReport counts{};
};

// To the nearest number, halves up.
int rounded(double number) {
  return static_cast<int>(std::floor(number + 0.5));
}

Rect to_pixels(const Box& box) {
  const int left = rounded(box.x), top = rounded(box.y);
  return {left, top, std::max(1, rounded(box.x + box.width) - left),
          std::max(1, rounded(box.y + box.height) - top)};
}

std::string text_of(const Box& box) {
  return fmt::format("the box {:g} {:g} {:g} {:g}", box.x, box.y, box.width, box.height);
}

class PictureReader {
 public:
  PictureReader(const Task& task, std::size_t number, const PositiveOptions& options)
      : task_(task), number_(number), options_(options) {}

  Found read() {
    try {
      const Gray picture = task_.read();
      check_size(picture.size());
      ++found_.counts.pictures;
      read_objects(picture);
    } catch (const InputError& error) {
      ++found_.counts.refused;
      found_.sentences.push_back(fmt::format("{}: {}", task_.name, error.what()));
    }
    return std::move(found_);
  }

 private:
  void check_size(Size size) const {
    const Size expected = task_.size;
    if (expected.area() == 0 || expected == size) return;
    throw InputError(
        "size", fmt::format("it was annotated with {}x{} pixels, but has {}x{}{}", expected.width,
                            expected.height, size.width, size.height,
                            expected == Size{size.height, size.width}
                                ? " after it was turned upright by its EXIF orientation"
                                : ""));
  }

  void read_objects(const Gray& picture) {
    const Rect whole{0, 0, picture.size().width, picture.size().height};
    std::vector<Rect> boxes;
    if (task_.is_object) boxes.push_back(whole);
    for (const AnnotatedObject& object : task_.objects)
      if (object.ignored)
        ++found_.counts.ignored;
      else if (const auto box = box_of(object.box, picture.size()))
        boxes.push_back(*box);
    found_.objects.resize(boxes.size());
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(std::size_t{0}, boxes.size(), [&](std::size_t i) {
        found_.objects[i] = read_object(picture.view(), boxes[i], i);
      });
    });
    for (const Rect& box : boxes) found_.counts.stretched += is_stretched(box);
    for (const Rect& box : boxes)
      found_.counts.enlarged += 2 * box.width < options_.samples.window.width ||
                                2 * box.height < options_.samples.window.height;
  }

  // By more than a quarter in one direction?
  bool is_stretched(const Rect& box) const {
    const Size window = options_.samples.window;
    const double ratio = static_cast<double>(box.width) * window.height /
                         (static_cast<double>(box.height) * window.width);
    return options_.samples.aspect == Aspect::stretch && (ratio > 1.25 || ratio < 1 / 1.25);
  }

  // nullopt if it lies outside the picture.
  std::optional<Rect> box_of(const Box& annotated, Size picture) {
    const Rect box = to_pixels(annotated), inside = rules::clipped(box, picture);
    if (inside.width <= 0 || inside.height <= 0) {
      ++found_.counts.refused;
      found_.sentences.push_back(fmt::format("{}: {} lies outside the picture of {}x{} pixels",
                                             task_.name, text_of(annotated), picture.width,
                                             picture.height));
      return std::nullopt;
    }
    constexpr int slack = 1;  // pixels by which formats round
    if (box.width - inside.width > slack || box.height - inside.height > slack) {
      ++found_.counts.cut;
      found_.sentences.push_back(
          fmt::format("{}: {} reaches beyond the picture of {}x{} pixels, so it is cut there",
                      task_.name, text_of(annotated), picture.width, picture.height));
    }
    return inside;
  }

  Found::Object read_object(View<const std::uint8_t> picture, const Rect& box,
                            std::size_t index) const {
    if (options_.distortion.copies == 0)
      return {.samples = samples_of(picture, box, options_.samples, number_, index)};
    const Rect region = region_of(box, options_.samples);
    return {.cut_out = resampled(picture, region, {region.width, region.height})};
  }

  const Task& task_;
  const std::size_t number_;
  const PositiveOptions& options_;
  Found found_;
};

// ---- distorted samples

std::uint64_t seed_of(const PositiveOptions& options) {
  return static_cast<std::uint64_t>(options.samples.seed);
}

// The background of each sample.
std::vector<Gray> make_backgrounds(std::size_t count, const PositiveOptions& options,
                                   Sentences& sentences) {
  if (!options.backgrounds.empty())
    return random_backgrounds(count, options.samples.window, options.backgrounds, seed_of(options),
                              sentences);
  const int level = options.distortion.transparent.value_or(0);
  std::vector<Gray> backgrounds(count);
  for (Gray& background : backgrounds) {
    background = Gray(options.samples.window);
    for (int y = 0; y < options.samples.window.height; ++y)
      std::fill_n(background.row(y), options.samples.window.width,
                  static_cast<std::uint8_t>(level));
  }
  return backgrounds;
}

// Replaces the cut-out objects by their distorted copies.
void distort(std::vector<Found::Object>& objects, const PositiveOptions& options,
             Sentences& sentences) {
  const auto copies = static_cast<std::size_t>(options.distortion.copies);
  const std::vector<Gray> backgrounds =
      make_backgrounds(objects.size() * copies, options, sentences);
  for (Found::Object& object : objects) object.samples.resize(copies);
  tbb::parallel_for(std::size_t{0}, objects.size() * copies, [&](std::size_t i) {
    Found::Object& object = objects[i / copies];
    const Size size = object.cut_out.size();
    Random random({seed_of(options), i, 2});
    object.samples[i % copies] = distorted(object.cut_out.view(), {0, 0, size.width, size.height},
                                           backgrounds[i].view(), options.distortion, random);
  });
  if (!options.samples.mirror) return;
  for (Found::Object& object : objects)
    for (std::size_t i = 0; i < copies; ++i)
      object.samples.push_back(mirrored(object.samples[i].view()));
}

// ---- all of them

// Reads pictures until there are enough objects.
std::vector<Found::Object> read_objects(const std::vector<Task>& tasks,
                                        const PositiveOptions& options, PositiveReport& report,
                                        Sentences& sentences) {
  constexpr std::size_t at_once = 256;
  std::vector<Found::Object> objects;
  const auto is_enough = [&] { return options.most > 0 && objects.size() >= options.most; };
  for (std::size_t begin = 0; begin < tasks.size() && !is_enough(); begin += at_once) {
    std::vector<Found> found(std::min(at_once, tasks.size() - begin));
    tbb::parallel_for(std::size_t{0}, found.size(), [&](std::size_t i) {
      found[i] = PictureReader(tasks[begin + i], begin + i, options).read();
    });
    for (Found& one : found) {
      if (is_enough()) break;
      sentences.add(std::move(one.sentences));
      report.pictures += one.counts.pictures;
      report.ignored += one.counts.ignored;
      report.refused += one.counts.refused;
      report.cut += one.counts.cut;
      report.enlarged += one.counts.enlarged;
      report.stretched += one.counts.stretched;
      std::ranges::move(one.objects, std::back_inserter(objects));
    }
  }
  if (is_enough()) objects.resize(options.most);
  return objects;
}

}  // namespace

std::string PositiveReport::text() const {
  const auto counted = [](std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
  };
  std::string text =
      fmt::format("{} of {} in {}\n", counted(samples, "sample", "samples"),
                  counted(objects, "object", "objects"), counted(pictures, "picture", "pictures"));
  if (ignored > 0) text += fmt::format("ignored, as the annotations say: {}\n", ignored);
  if (refused > 0) text += fmt::format("refused: {}\n", refused);
  if (cut > 0) text += fmt::format("cut at the edge of the picture: {}\n", cut);
  if (enlarged > 0)
    text +=
        fmt::format("smaller than half the window, so that the sample is blurred: {}\n", enlarged);
  if (stretched > 0)
    text += fmt::format("stretched by more than a quarter to the window's shape: {}\n", stretched);
  for (const std::string& sentence : sentences) text += fmt::format("  {}\n", sentence);
  return text;
}

Positives read_positives(const std::vector<std::string>& sources, const PositiveOptions& options) {
  Tasks all(options);
  for (const std::string& source : sources) all.add(source);
  Positives positives{{.samples = {options.samples.window, {}}}, {}};
  PositiveReport& report = positives.report;
  report.refused = all.failures;
  Sentences& sentences = all.sentences;
  std::vector<Found::Object> objects = read_objects(all.tasks, options, report, sentences);
  if (options.distortion.copies > 0 && !objects.empty()) distort(objects, options, sentences);
  for (std::size_t object = 0; object < objects.size(); ++object)
    positives.add(object, objects[object].samples);
  report.objects = objects.size();
  report.samples = positives.samples.count();
  report.sentences = sentences.all();
  return positives;
}

}  // namespace facesat::training
