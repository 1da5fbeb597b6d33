// The formats in JSON.
//   JSON Lines as `facesat detect` writes them: an object for each picture, {"image": ..., "faces":
// [{"x", "y", "width", "height"}, ...]}. Other keys are ignored, but for "label" or "cascade",
// which is an object's label, and "width" and "height" of the picture.
//   COCO: an object with the arrays "images", "annotations" and "categories". Crowds are ignored
// objects.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "datasets/annotation_reader.hpp"
#include "support/errors.hpp"

namespace facesat::training {
namespace {

using Json = nlohmann::json;

// The number of this key, or of the other one.
std::optional<double> number_of(const Json& object, const char* key, const char* other) {
  for (const char* name : {key, other})
    if (const auto found = object.find(name); found != object.end() && found->is_number())
      return found->get<double>();
  return std::nullopt;
}

Size size_of(const Json& object) {
  return picture_size(number_of(object, "width", "w"), number_of(object, "height", "h"));
}

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// ---- JSON Lines

// An object that names a picture; null if the line is none.
Json parse_record(std::string_view line) {
  Json record = Json::parse(line, nullptr, false);
  const bool names_picture =
      record.is_object() && record.contains("image") && record["image"].is_string();
  return names_picture ? record : Json();
}

bool recognises_lines(const AnnotationSource& source) {
  constexpr std::size_t longest_tried = 1 << 20;
  if (!trimmed(std::string_view(source.text).substr(0, 100)).starts_with('{')) return false;
  Lines lines(source.text);
  const auto first = lines.next();
  return first && first->size() <= longest_tried && !parse_record(*first).is_null();
}

std::string label_of(const Json& object) {
  const std::string label = text_of(object, "label");
  return label.empty() ? text_of(object, "cascade") : label;
}

void add_faces(const Json& faces, std::size_t picture, AnnotationCollector& found,
               const Place& place) {
  for (const Json& face : faces) {
    if (!face.is_object()) {
      found.leave_out(place, "expected a face as an object, so it is left out");
      continue;
    }
    const auto x = number_of(face, "x", "x"), y = number_of(face, "y", "y"),
               width = number_of(face, "width", "w"), height = number_of(face, "height", "h");
    if (x && y && width && height)
      found.add(picture,
                {.box = {*x, *y, *width, *height}, .label = label_of(face), .ignored = false},
                place);
    else
      found.leave_out(place, "a face lacks x, y, width or height, so it is left out");
  }
}

void read_lines(const AnnotationSource& source, AnnotationCollector& found) {
  Lines lines(source.text);
  while (const auto line = lines.next()) {
    if (trimmed(*line).empty()) continue;
    const Place place{source.path, lines.number()};
    const Json record = parse_record(*line);
    if (record.is_null()) {
      found.leave_out(place, "this is not a JSON object with an \"image\", so it is left out");
    } else if (record.contains("frame")) {
      found.leave_out(place, "this is a frame of a video and no picture, so it is left out");
    } else if (const auto faces = record.find("faces");
               faces == record.end() || !faces->is_array()) {
      found.leave_out(place, "the picture has no \"faces\", so it is left out");
    } else {
      const std::size_t picture = found.picture(record["image"].get<std::string>());
      found.at(picture).size = size_of(record);
      add_faces(*faces, picture, found, place);
    }
  }
}

// ---- COCO

using Ids = std::map<std::string, std::size_t>;  // as JSON: numbers or texts

bool recognises_coco(const AnnotationSource& source) {
  return trimmed(std::string_view(source.text).substr(0, 100)).starts_with('{');
}

// Without the outlines of objects, which are most of such a file, and without what is nested deeper
// than anything that is used.
Json parse_coco(const AnnotationSource& source) {
  constexpr int deepest = 8;
  const auto is_kept = [](int depth, Json::parse_event_t event, Json& value) {
    const bool is_outline = event == Json::parse_event_t::key && value == "segmentation";
    return depth < deepest && !is_outline;
  };
  try {
    return Json::parse(source.text, is_kept);
  } catch (const Json::parse_error& error) {
    throw UsageError(fmt::format(
        "{}: this is not JSON",
        Place{source.path, line_of(source.text, error.byte > 0 ? error.byte - 1 : 0)}.text()));
  } catch (const Json::out_of_range&) {
    throw UsageError(fmt::format("{}: a number is too large", source.path.string()));
  }
}

const Json& array_of(const AnnotationSource& source, const Json& all, const char* key) {
  const auto found = all.find(key);
  if (found == all.end() || !found->is_array())
    throw UsageError(
        fmt::format("{}: expected COCO's JSON with the arrays \"images\" and \"annotations\"; "
                    "there is no array \"{}\"",
                    source.path.string(), key));
  return *found;
}

// The value as text of JSON; empty if there is none.
std::string id_of(const Json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found == object.end() || found->is_structured() ? "" : found->dump();
}

std::map<std::string, std::string> read_labels(const Json& all) {
  std::map<std::string, std::string> labels;
  const auto categories = all.find("categories");
  if (categories == all.end() || !categories->is_array()) return labels;
  for (const Json& category : *categories)
    if (const std::string id = id_of(category, "id"); !id.empty())
      labels[id] = text_of(category, "name");
  return labels;
}

Ids read_pictures(const Json& pictures, const Place& place, AnnotationCollector& found) {
  Ids indices;
  for (const Json& picture : pictures) {
    const std::string id = id_of(picture, "id");
    const std::string name = id.empty() ? "" : text_of(picture, "file_name");
    if (name.empty()) {
      found.leave_out(place, "a picture has no \"id\" or no \"file_name\", so it is left out");
      continue;
    }
    indices[id] = found.picture(name);
    found.at(indices[id]).size = size_of(picture);
  }
  return indices;
}

std::optional<Box> box_of(const Json& annotation) {
  const auto box = annotation.find("bbox");
  if (box == annotation.end() || !box->is_array() || box->size() != 4) return std::nullopt;
  for (const Json& number : *box)
    if (!number.is_number()) return std::nullopt;
  const auto number = [&](int i) { return (*box)[static_cast<std::size_t>(i)].get<double>(); };
  return Box{number(0), number(1), number(2), number(3)};
}

bool is_crowd(const Json& annotation) {
  for (const char* key : {"iscrowd", "ignore"})
    if (const std::string value = id_of(annotation, key); value == "1" || value == "true")
      return true;
  return false;
}

void read_coco(const AnnotationSource& source, AnnotationCollector& found) {
  const Json all = parse_coco(source);
  const auto labels = read_labels(all);
  const Place file{source.path};
  const Ids pictures = read_pictures(array_of(source, all, "images"), file, found);
  std::size_t number = 0;
  for (const Json& annotation : array_of(source, all, "annotations")) {
    // Lines mean nothing in such files.
    const Place place{fmt::format("{}, annotation {}", source.path.string(), ++number)};
    const auto picture = pictures.find(id_of(annotation, "image_id"));
    if (picture == pictures.end()) {
      found.leave_out(place, "there is no picture with its \"image_id\", so it is left out");
      continue;
    }
    const std::optional<Box> box = box_of(annotation);
    if (!box) {
      found.leave_out(place, "there is no \"bbox\" of four numbers, so it is left out");
      continue;
    }
    const auto label = labels.find(id_of(annotation, "category_id"));
    found.add(picture->second,
              {.box = *box,
               .label = label == labels.end() ? "" : label->second,
               .ignored = is_crowd(annotation)},
              place);
  }
}

}  // namespace

const AnnotationReader jsonl_annotations{
    "JSON Lines of facesat ({\"image\": ..., \"faces\": [{\"x\", \"y\", \"width\", \"height\"}]})",
    recognises_lines, read_lines};
const AnnotationReader coco_annotations{
    "JSON of COCO ({\"images\": [...], \"annotations\": [...]})", recognises_coco, read_coco};

}  // namespace facesat::training
