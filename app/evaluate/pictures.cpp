#include "app/evaluate/pictures.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "results/inputs.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"
#include "support/interrupt.hpp"

namespace facesat::app {
namespace {

// Appends the pictures below a folder that are not among `known`, and adds them to these.
void append_unannotated(const std::string& folder, std::set<FileIdentity>& known,
                        std::vector<TestPicture>& pictures) {
  InputArguments arguments;
  arguments.inputs = {folder};
  arguments.recursive = arguments.archives = true;
  Inputs inputs(arguments);
  while (std::optional<Input> input = inputs.next()) {
    if (interrupted()) return;
    if (input->kind == Input::Kind::failure)
      throw UsageError(fmt::format("--pictures {}: {}", input->name, input->failure));
    if (input->kind != Input::Kind::picture) continue;
    const auto identity = input->member ? std::nullopt : file_identity(input->path);
    if (identity && !known.insert(*identity).second) continue;
    TestPicture picture;
    picture.annotated.file = input->path;
    picture.annotated.name = input->name;
    if (input->member) picture.read = input->member->read;
    pictures.push_back(std::move(picture));
  }
}

bool counts(const training::AnnotatedObject& object) {
  return !object.ignored;
}

}  // namespace

std::vector<TestPicture> find_pictures(const EvaluateCommand& command,
                                       const std::function<void(const std::string&)>& say) {
  training::Annotations annotations = training::read_annotations(
      command.annotations, {.labels = command.labels, .pictures = command.root});
  for (const std::string& warning : annotations.warnings) say(warning);
  std::vector<TestPicture> pictures;
  std::set<FileIdentity> known;
  for (training::AnnotatedPicture& picture : annotations.pictures) {
    if (const auto identity = file_identity(picture.file)) known.insert(*identity);
    pictures.push_back({std::move(picture), {}});
  }
  if (std::none_of(pictures.begin(), pictures.end(), [](const TestPicture& picture) {
        return std::ranges::any_of(picture.annotated.objects, counts);
      }))
    throw UsageError(fmt::format("{}: there are no objects in it that count", command.annotations));
  for (const std::string& folder : command.pictures) {
    if (!std::filesystem::is_directory(folder))
      throw UsageError(fmt::format("--pictures {}: there is no such folder", folder));
    append_unannotated(folder, known, pictures);
  }
  return pictures;
}

}  // namespace facesat::app
