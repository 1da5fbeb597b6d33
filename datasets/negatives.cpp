#include "datasets/negatives.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <tbb/task_arena.h>

#include "core/cpu/gray.hpp"
#include "results/archive.hpp"
#include "support/errors.hpp"
#include "support/files.hpp"

namespace facesat::training {
namespace {

namespace fs = std::filesystem;

// Is this a list of the old trainer? What has the beginning of a picture is one, whatever its name.
bool is_plain_list(const std::string& input) {
  std::error_code ignored;
  if (input.starts_with('@') || input == "-" || !fs::is_regular_file(input, ignored) ||
      has_media_extension(input) || has_extension(input, archive_extensions()))
    return false;
  try {
    return match_picture(InputFile(input).beginning()) != Match::yes;
  } catch (const InputError&) {  // it is reported when it is read as a picture
    return false;
  }
}

// The paths in a list of the old trainer. Throws UsageError.
std::vector<std::string> read_plain_list(const fs::path& list) {
  std::ifstream file(list);
  std::vector<std::string> paths;
  for (std::string line; std::getline(file, line);) {
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.find('\0') != line.npos)
      throw UsageError(
          fmt::format("{}: this is neither a picture, a video, an archive nor a list of pictures",
                      list.string()));
    const fs::path beside = list.parent_path() / line;
    std::error_code ignored;
    paths.push_back(fs::exists(beside, ignored) || !fs::exists(line, ignored) ? beside.string()
                                                                              : line);
  }
  return paths;
}

// An upper bound of the frames that a choice leaves of a video; 0: the video does not state its
// length.
std::size_t frame_count(const FrameSource& video, const FrameChoice& choice) {
  const double count = choice.per_second > 0 ? video.length() * choice.per_second
                                             : video.length() / video.step() / choice.every;
  return static_cast<std::size_t>(std::max(0.0, std::ceil(count - 1e-6)));
}

Image<std::uint8_t> to_gray(const facesat::Picture& picture) {
  Image<std::uint8_t> gray(picture.size());
  // Isolated, so that this thread does not begin another picture while it waits.
  tbb::this_task_arena::isolate([&] { cpu::to_gray(picture.pixels, gray.view()); });
  return gray;
}

}  // namespace

// A video that is read from its beginning to its end, again and again.
struct Negatives::Video {
  Input input;
  FrameChoice choice;
  std::size_t max_pixels;
  std::mutex mutex{};
  std::unique_ptr<FrameSource> source{};
  std::size_t next = 0;                                       // frame that `source` gives next
  std::size_t end = std::numeric_limits<std::size_t>::max();  // as far as known
  std::string warning{};                                      // at the end: that frames are missing

  void open() {
    source = open_video(input.path, max_pixels);
    source->choose(choice);
    next = 0;
  }
  // nullopt past the end.
  std::optional<Frame> read(std::size_t frame) {
    if (frame >= end) return std::nullopt;
    if (!source || next > frame) open();
    while (true) {
      std::optional<Frame> found = source->next();
      if (!found) {
        end = next;
        warning = source->warning();
        return std::nullopt;
      }
      if (next++ == frame) return found;
    }
  }
};

Negatives::Negatives(NegativeSources sources) : sources_(std::move(sources)) {
  if (!sources_.frames.is_made()) sources_.frames.per_second = 1;
  add_inputs(with_lists_replaced());
  for (std::size_t i = 0; i < sources_.annotated.pictures.size(); ++i) {
    const AnnotatedPicture& annotated = sources_.annotated.pictures[i];
    Picture picture;
    picture.input.path = annotated.file;
    picture.input.name = annotated.name;
    picture.annotated = i;
    pictures_.push_back(std::move(picture));
  }
  if (pictures_.empty())
    throw UsageError(
        warnings_.empty()
            ? fmt::format("{}: there are no pictures to look for negatives in",
                          sources_.inputs.empty() ? "negatives" : sources_.inputs.front())
            : "there are no pictures to look for negatives in: " + warnings_.front());
}

Negatives::~Negatives() = default;

std::vector<std::string> Negatives::with_lists_replaced() const {
  std::vector<std::string> all;
  for (const std::string& input : sources_.inputs)
    if (is_plain_list(input))
      std::ranges::move(read_plain_list(input), std::back_inserter(all));
    else
      all.push_back(input);
  return all;
}

void Negatives::add_inputs(std::vector<std::string> inputs) {
  InputArguments arguments;
  arguments.inputs = std::move(inputs);
  arguments.recursive = sources_.recursive;
  arguments.archives = true;
  Inputs found(std::move(arguments));
  while (std::optional<Input> input = found.next()) {
    switch (input->kind) {
      case Input::Kind::picture: {
        Picture picture;
        picture.input = std::move(*input);
        pictures_.push_back(std::move(picture));
        break;
      }
      case Input::Kind::video:
        add_video(std::move(*input));
        break;
      case Input::Kind::live:  // not asked for
      case Input::Kind::failure:
        warnings_.push_back(fmt::format("{}: {}", input->name, input->failure));
        break;
    }
  }
  if (pictures_.empty() && found.skipped().folders > 0)
    warnings_.emplace_back("only folders are there, which --recursive searches");
}

void Negatives::add_video(Input input) {
  std::unique_ptr<Video> video(new Video{std::move(input), sources_.frames, sources_.max_pixels});
  std::size_t frames = 0;
  try {
    video->open();
    frames = frame_count(*video->source, sources_.frames);
    if (frames == 0) {
      video->read(std::numeric_limits<std::size_t>::max() - 1);
      frames = video->end;
    }
  } catch (const InputError& error) {
    warnings_.push_back(fmt::format("{}: {}", video->input.name, error.what()));
    return;
  }
  for (std::size_t frame = 0; frame < frames; ++frame) {
    Picture picture;
    picture.video = videos_.size();
    picture.frame = frame;
    pictures_.push_back(std::move(picture));
  }
  videos_.push_back(std::move(video));
}

NegativeSources sources_of(const std::vector<std::string>& inputs,
                           const std::filesystem::path& root) {
  NegativeSources sources;
  for (const std::string& input : inputs) {
    if (input.starts_with('@') || !has_annotations(input)) {
      sources.inputs.push_back(input);
      continue;
    }
    Annotations annotated = read_annotations(input, {.labels = {}, .pictures = root});
    std::ranges::move(annotated.pictures, std::back_inserter(sources.annotated.pictures));
  }
  return sources;
}

std::string Negatives::name(std::size_t picture) const {
  const Picture& one = pictures_[picture];
  if (one.video == none) return one.input.name;
  const Video& video = *videos_[one.video];
  const FrameChoice& choice = sources_.frames;
  return choice.per_second > 0 ? fmt::format("{}, second {:g}", video.input.name,
                                             static_cast<double>(one.frame) / choice.per_second)
                               : fmt::format("{}, frame {}", video.input.name,
                                             one.frame * static_cast<std::size_t>(choice.every));
}

std::vector<Box> Negatives::objects(std::size_t picture) const {
  const std::size_t i = pictures_[picture].annotated;
  std::vector<Box> boxes;
  if (i != none)
    for (const AnnotatedObject& object : sources_.annotated.pictures[i].objects)
      boxes.push_back(object.box);
  return boxes;
}

bool Negatives::is_frame(std::size_t picture) const {
  return pictures_[picture].video != none;
}

std::uint64_t Negatives::checksum() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count(); ++i) sum = facesat::checksum(name(i) + '\n', sum);
  return sum;
}

std::optional<Negatives::Gray> Negatives::read(std::size_t index, const ShouldStop& should_stop) {
  Picture& picture = pictures_[index];
  {
    const std::scoped_lock lock(mutex_);
    if (picture.kept) return Gray{picture.kept, ""};
  }
  std::optional<Gray> gray;
  try {
    gray = decode(picture, should_stop);
  } catch (const InputError& error) {
    gray = Gray{nullptr, error.what()};
  }
  check_stop(should_stop);  // an interrupted video ends
  if (!gray || !gray->picture) return gray;
  const std::uint64_t bytes = gray->picture->size().area();
  const std::scoped_lock lock(mutex_);
  if (!picture.kept && bytes <= sources_.kept_bytes - kept_bytes_) {
    picture.kept = gray->picture;
    kept_bytes_ += bytes;
  }
  return gray;
}

std::optional<Negatives::Gray> Negatives::decode(const Picture& picture,
                                                 const ShouldStop& should_stop) {
  if (picture.video != none) return decode_frame(picture);
  const Input& input = picture.input;
  const DecodeLimits limits{sources_.max_pixels, should_stop};
  const facesat::Picture decoded = input.member
                                       ? read_picture(InputFile(input.member->read()), limits)
                                   : input.bytes ? read_picture(InputFile(*input.bytes), limits)
                                                 : read_picture(input.path, limits);
  return Gray{std::make_shared<Image<std::uint8_t>>(to_gray(decoded)), decoded.warning};
}

std::optional<Negatives::Gray> Negatives::decode_frame(const Picture& picture) {
  Video& video = *videos_[picture.video];
  std::optional<Frame> frame;
  std::string warning;
  {
    const std::scoped_lock lock(video.mutex);
    frame = video.read(picture.frame);
    warning = std::exchange(video.warning, "");
  }
  if (!warning.empty()) throw InputError("decode", warning);
  if (!frame) return std::nullopt;
  return Gray{std::make_shared<Image<std::uint8_t>>(to_gray(frame->picture)), ""};
}

}  // namespace facesat::training
