#include "app/train/samples_command.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include <fmt/format.h>
#include <tbb/global_control.h>

#include "app/common/command_line.hpp"
#include "core/parse_number.hpp"
#include "datasets/vec_file.hpp"
#include "library/training.hpp"
#include "results/picture_folder.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/messages.hpp"
#include "support/text.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;
using training::Samples;

// ---- options

CLI::Option* add_number(CLI::App& command, const std::string& name, double& number,
                        const std::string& type, double most, const std::string& help) {
  const auto check = [most](const std::string& text) {
    const auto value = parse_number<double>(text);
    const bool is_right = value && *value >= 0 && *value <= most;
    return is_right ? std::string()
                    : fmt::format("expected a number from 0 to {:.4g}, not \"{}\"", most, text);
  };
  return command.add_option(name, number, help)->type_name(type)->check(CLI::Validator(check, ""));
}

CLI::Option* add_level(CLI::App& command, const std::string& name, int& level,
                       const std::string& help) {
  return command.add_option(name, level, help)->type_name("LEVEL")->check(whole_number(0, 255));
}

void add_objects(CLI::App& command, training::PositiveOptions& options) {
  command
      .add_option_function<std::string>(
          "--pictures",
          [&options](const std::string& folder) { options.annotations.pictures = folder; },
          "The folder that names in annotations begin at [that of the annotations]")
      ->type_name("DIR");
  add_repeatable(command, "--label", options.annotations.labels, "NAME",
                 "Only objects with this label; repeatable [all]");
  command
      .add_option("--count", options.most, "No more than this many objects, the first ones [all]")
      ->type_name("N")
      ->check(whole_number(1));
  command.add_flag_callback(
      "--luma", [&options] { options.reading = Reading::luma; },
      "Read JPEGs in grey, as 'facesat detect --luma' does");
}

void add_distortions(CLI::App& command, training::PositiveOptions& options) {
  const Heading heading(command, "Distorted copies");
  training::DistortionOptions& distortion = options.distortion;
  command
      .add_option("--distort", distortion.copies,
                  "Instead of each object, this many copies that are turned in space and drawn "
                  "over backgrounds, as opencv_createsamples -img does")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000))
      ->excludes("--copies");
  add_repeatable(command, "--background", options.backgrounds, "INPUT",
                 "Pictures to draw over: files, folders, archives, lists; repeatable [black]");
  command
      .add_option_function<int>(
          "--transparent", [&distortion](int level) { distortion.transparent = level; },
          "The grey level that lets the background through [none]")
      ->type_name("LEVEL")
      ->check(whole_number(0, 255));
  add_level(command, "--tolerance", distortion.tolerance,
            "So do levels that differ from it by up to this [80]")
      ->needs("--transparent");
  command.add_flag("--invert", distortion.inverted, "Make bright parts dark, and dark ones bright");
  command.add_flag("--invert-at-random", distortion.inverted_at_random, "Do so in half the copies");
  add_level(command, "--intensity", distortion.intensity,
            "Make distorted copies up to this much brighter or darker [40]");
  constexpr double steepest = training::steepest_angle;
  add_number(command, "--max-x-angle", distortion.max_x_angle, "RADIANS", steepest,
             "Nod by up to this angle [1.1]");
  add_number(command, "--max-y-angle", distortion.max_y_angle, "RADIANS", steepest,
             "Turn to the side by up to this angle [1.1]");
  add_number(command, "--max-z-angle", distortion.max_z_angle, "RADIANS", std::numbers::pi,
             "Tilt in the plane by up to this angle [0.5]");
  for (const char* name : {"--background", "--transparent", "--invert", "--invert-at-random",
                           "--intensity", "--max-x-angle", "--max-y-angle", "--max-z-angle"})
    command.get_option(name)->needs("--distort");
}

// ---- outputs

enum class Kind { vec, sheet, folder };

Kind kind_of(const fs::path& output) {
  if (fs::is_directory(output) || !output.has_filename()) return Kind::folder;
  if (has_extension(output, {".vec"})) return Kind::vec;
  if (has_extension(output, {".png", ".jpg", ".jpeg"})) return Kind::sheet;
  if (output.has_extension())
    throw UsageError(
        fmt::format("{}: expected FILE.vec, a picture of all samples (.png, .jpg) or a folder",
                    output.string()));
  return Kind::folder;
}

Bgr gray(std::uint8_t level) {
  return {level, level, level};
}

void draw(View<const std::uint8_t> sample, View<Bgr> to) {
  for (int y = 0; y < sample.size.height; ++y)
    std::transform(sample.row(y), sample.row(y) + sample.size.width, to.row(y), gray);
}

// Pictures of an earlier run that this one does not replace are deleted.
void write_folder(const PictureFolder& folder, const Samples& samples) {
  const auto name = [](std::size_t sample) { return fmt::format("{:06}.png", sample + 1); };
  Image<Bgr> picture(samples.window);
  for (std::size_t i = 0; i < samples.count(); ++i) {
    draw(samples[i], picture.view());
    folder.write(name(i), picture.view(), {});
  }
  for (std::size_t i = samples.count(); folder.remove(name(i), {}); ++i) continue;
}

// Where the samples go. What cannot be written to is found before anything is read.
class Output {
 public:
  explicit Output(const SamplesCommand& command) : path_(command.output), kind_(kind_of(path_)) {
    for (const std::string& input : command.inputs)
      if (same_file(input, path_))
        throw UsageError(fmt::format("{}: this is an input, and cannot be the output", input));
    if (kind_ == Kind::vec) {
      if (has_contents(path_) && !training::is_vec_file(path_)) refuse_foreign(path_);
      require_writable(path_);
    } else {
      const fs::path folder = kind_ == Kind::folder ? path_ : path_.parent_path();
      pictures_.emplace(folder.empty() ? "." : folder);
    }
  }

  void write(const Samples& samples) const {
    try {
      if (kind_ == Kind::vec)
        training::write_vec(path_, samples);
      else if (kind_ == Kind::sheet)
        pictures_->write(path_.filename().string(), sheet_of(samples).view(), {});
      else
        write_folder(*pictures_, samples);
    } catch (const InputError& error) {  // of a picture
      throw UsageError(error.what());
    }
  }

 private:
  fs::path path_;
  Kind kind_;
  std::optional<PictureFolder> pictures_;
};

void print_lines(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    print(printable(text.substr(at, end - at)) + "\n");
    at = end + 1;
  }
}

}  // namespace

Image<Bgr> sheet_of(const Samples& samples) {
  constexpr std::size_t most_pixels = 50'000'000;
  const Size cell{samples.window.width + 1, samples.window.height + 1};
  const std::size_t count = std::clamp(samples.count(), std::size_t{1},
                                       std::max<std::size_t>(1, most_pixels / cell.area()));
  // So that the sheet is about as wide as high.
  const auto columns = std::clamp<std::size_t>(
      std::lround(std::sqrt(static_cast<double>(count) * cell.height / cell.width)), 1, count);
  const auto rows = (count + columns - 1) / columns;
  Image<Bgr> sheet(
      {static_cast<int>(columns) * cell.width + 1, static_cast<int>(rows) * cell.height + 1});
  for (int y = 0; y < sheet.size().height; ++y)
    std::fill_n(sheet.row(y), sheet.size().width, gray(0));
  for (std::size_t i = 0; i < count; ++i)
    draw(samples[i], sheet.view().sub({static_cast<int>(i % columns) * cell.width + 1,
                                       static_cast<int>(i / columns) * cell.height + 1,
                                       samples.window.width, samples.window.height}));
  return sheet;
}

void add_sample_options(CLI::App& command, training::PositiveOptions& options) {
  const Heading heading(command, "Samples");
  for (const Field<SampleOptions>& field : sample_fields())
    add_ranged_field(command, options.samples, field, sample_ranges());
  for (const char* name : {"--shift", "--scale", "--turn", "--brightness", "--contrast"})
    command.get_option(name)->needs("--copies");
  add_objects(command, options);
  add_distortions(command, options);
}

void check_sample_options(const training::PositiveOptions& options) {
  const std::string reason = why_no_window(options.samples.window);
  if (!reason.empty()) throw CLI::ValidationError("--window: " + reason);
}

CLI::App* add_samples(CLI::App& program, SamplesCommand& command) {
  CLI::App* samples = program.add_subcommand(
      "samples", "Cut out what a cascade is to find, for training: samples of an object");
  samples
      ->add_option("INPUT", command.inputs,
                   "Annotated pictures (info.dat of OpenCV, Pascal VOC, COCO, YOLO, CSV or JSON "
                   "Lines with boxes), .vec files, or pictures that are objects as a whole: files, "
                   "folders, .tar archives, @LIST of paths")
      ->required()
      ->type_name("");
  add_file(*samples, "-o,--output", command.output,
           "FILE.vec; or a picture of all samples (.png, .jpg); or a folder, for one picture each")
      ->required();
  add_sample_options(*samples, command.positives);
  samples->add_option("-j,--jobs", command.jobs, "Threads [all cores]")
      ->type_name("N")
      ->check(whole_number(1, 1024));
  samples->add_flag("-q,--quiet", command.quiet, "No report of what was read");
  samples->footer(
      "\nExamples:\n"
      "  facesat samples info.dat -o faces.vec\n"
      "  facesat samples --label car --window 48x24 annotations.json --pictures train/ -o "
      "cars.png\n"
      "  facesat samples crops/ --copies 4 --shift 0.05 --turn 10 --mirror -o samples/\n"
      "  facesat samples logo.png --distort 1000 --background photos/ -o logo.vec\n"
      "The options of opencv_createsamples are understood, too: -info -img -bg -vec -num -w -h "
      "-bgcolor -bgthresh\n-inv -randinv -maxidev -maxxangle -maxyangle -maxzangle.\n"
      "The same inputs, options and seed give the same samples.\n"
      "Exit status: 0 all inputs used, 1 some inputs or objects refused, 2 wrong usage or no "
      "samples,\n3 the output cannot be written.");
  samples->final_callback([&command] { check_sample_options(command.positives); });
  return samples;
}

int run_samples(const SamplesCommand& command) {
  const Output output(command);
  std::optional<tbb::global_control> limit;
  if (command.jobs > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism,
                  static_cast<std::size_t>(command.jobs));
  const training::Positives found = training::read_positives(command.inputs, command.positives);
  if (found.samples.count() == 0)
    throw UsageError(
        fmt::format("no samples{}{}", found.report.sentences.empty() ? "" : ": ",
                    found.report.sentences.empty() ? "" : found.report.sentences.front()));
  output.write(found.samples);
  if (!command.quiet) print_lines(found.report.text());
  return found.report.refused > 0 ? 1 : 0;
}

}  // namespace facesat::app
