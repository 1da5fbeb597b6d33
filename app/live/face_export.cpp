#include "app/live/face_export.hpp"

#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/detect/layout.hpp"
#include "cascades/cascade_store.hpp"
#include "media/frame_source.hpp"
#include "media/source_name.hpp"
#include "results/annotate.hpp"
#include "results/picture_folder.hpp"
#include "results/picture_names.hpp"
#include "support/files.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

std::string name_of_table(const Format& format) {
  return fmt::format("faces.{}", format.name);
}

Layout layout_of(const LiveSettings& settings, const ExportOptions& options) {
  DetectCommand command;
  command.cascades = settings.cascades;
  command.format = options.format;
  command.csv_all = options.format == &csv_format();
  std::vector<std::shared_ptr<const Cascade>> cascades;
  for (const std::string& cascade : settings.cascades) cascades.push_back(find_cascade(cascade));
  return layout_of(command, cascades);
}

Record record_of(const LiveResult& result) {
  const CapturedFrame& frame = result.frame;
  Record record;
  record.image = frame.name;
  if (frame.kind == FrameSource::Kind::video) {
    record.frame = static_cast<int>(frame.index);
    record.time = frame.time;
  }
  record.size = frame.picture.pixels.size;
  record.warning = frame.picture.warning;
  record.faces = result.faces;
  for (Face& face : record.faces) face.cascade = result.settings.cascade_of_colour(face.cascade);
  return record;
}

}  // namespace

std::string export_faces(const LiveResult& result, const ExportOptions& options) {
  const Layout layout = layout_of(result.settings, options);
  Record record = record_of(result);
  std::string folder = make_dated_folder(options.folder, "faces");
  const PictureFolder pictures(folder);
  const View<const Bgr> picture = result.frame.picture.pixels;
  const fs::path input = source_path(result.frame.origin).value_or("");
  PictureNames names;
  std::string name = names.add(record.image, record.frame.has_value());
  if (record.frame) name = PictureNames::of_frame(name, *record.frame);
  if (options.boxes) pictures.write(name, with_boxes(picture, record.faces).view(), input);
  for (std::size_t i = 0; i < record.faces.size() && options.crops; ++i) {
    record.crops.push_back(PictureNames::of_crop(name, static_cast<int>(i) + 1));
    pictures.write(record.crops.back(), picture.sub(record.faces[i].box), input);
  }
  write_text(fs::path(folder) / name_of_table(*options.format),
             layout.header() + layout.to_text(record));
  return folder;
}

std::string why_not_exportable(const std::vector<std::string>& sources,
                               const LiveSettings& settings) {
  for (const std::string& source : sources)
    if (!source_path(source)) return "a camera or stream has no end: record it, and open the video";
  if (!settings.rejected.empty())
    return "faces were rejected, which only the picture or frame that is shown leaves out: first "
           "restore them";
  return "";
}

std::vector<std::string> export_arguments(const std::vector<std::string>& sources,
                                          const LiveSettings& settings, const std::string& folder,
                                          const ExportOptions& options) {
  std::vector<std::string> arguments{
      "detect", "--progress=on", fmt::format("--format={}", options.format->name),
      fmt::format("--output={}/{}", folder, name_of_table(*options.format))};
  if (options.format == &csv_format()) arguments.emplace_back("--csv-all");
  if (options.crops) arguments.push_back(fmt::format("--crops={}", folder));
  if (options.boxes) arguments.push_back(fmt::format("--annotate={}", folder));
  append_arguments(arguments, settings.detect, detection_fields());
  const bool is_cpu = settings.backend.choice == BackendChoice::cpu;  // which has no other options
  append_arguments(arguments,
                   is_cpu ? BackendOptions{.choice = BackendChoice::cpu} : settings.backend,
                   backend_fields());
  for (const std::string& cascade : settings.cascades) arguments.push_back("--cascade=" + cascade);
  arguments.emplace_back("--");
  for (const std::string& source : sources)
    arguments.push_back(source.starts_with('@') ? source : source_path(source).value().string());
  return arguments;
}

}  // namespace facesat::app
