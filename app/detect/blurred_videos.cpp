#include "app/detect/blurred_videos.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/common/child_process.hpp"
#include "core/resample.hpp"
#include "media/video_file.hpp"
#include "results/picture_names.hpp"
#include "support/errors.hpp"
#include "support/interrupt.hpp"

namespace facesat::app {
namespace {

namespace fs = std::filesystem;

// FFmpeg's programs take no name after "file:" for an option or a URL.
std::string as_file(const fs::path& file) {
  return "file:" + fs::absolute(file).string();
}

struct Ended {
  int status = -1;  // as of ChildProcess
  std::vector<std::string> lines;
};

// Runs a program to its end, or until the run is interrupted.
Ended run(std::vector<std::string> command, Stream stream) {
  Ended ended;
  std::promise<int> end;
  std::future<int> status = end.get_future();
  const ChildProcess process(
      std::move(command), stream, [&](const std::string& line) { ended.lines.push_back(line); },
      [&](int number) { end.set_value(number); });
  while (status.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready)
    if (interrupted()) process.stop();
  ended.status = status.get();
  return ended;
}

// The name of a file that does not exist before and after.
struct Temporary {
  explicit Temporary(fs::path file) : path(std::move(file)) { remove(); }  // a killed run left it
  ~Temporary() { remove(); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  void remove() const {
    std::error_code ignored;
    fs::remove(path, ignored);
  }

  const fs::path path;
};

struct Sound {
  bool exists = false;
  // How many seconds after the sound the pictures begin: frames have times from the first one on.
  double lead = 0;
};

// The sound of a video. Throws InputError if it cannot be read.
Sound find_sound(const fs::path& video) {
  const Ended probed =
      run({"ffprobe", "-v", "error", "-show_entries",
           "stream=codec_type,start_time:format=start_time", "-of", "csv=p=0", as_file(video)},
          Stream::output);
  if (probed.status != 0) throw InputError("read", "ffprobe cannot read the input");
  Sound sound;
  double pictures = 0, all = 0;  // when they begin
  for (auto line = probed.lines.rbegin(); line != probed.lines.rend(); ++line) {
    const auto seconds = [&](std::string_view before) {
      return std::strtod(line->c_str() + before.size(), nullptr);  // 0 for "N/A"
    };
    if (line->starts_with("audio,"))
      sound.exists = true;
    else if (line->starts_with("video,"))
      pictures = seconds("video,");  // of the first one, which is the last here
    else if (line == probed.lines.rbegin())
      all = seconds("");
  }
  sound.lead = std::max(0.0, pictures - all);
  return sound;
}

// Copies the pictures of the video `silent` and the sound of `input` into the new video `both`,
// without encoding them again. Metadata and thumbnails, which may show a face or tell a place, are
// not copied. Throws InputError.
void copy_sound(const fs::path& silent, const fs::path& input, double lead, const fs::path& both) {
  const Ended copied = run({"ffmpeg",
                            "-nostdin",
                            "-hide_banner",
                            "-loglevel",
                            "error",
                            "-y",
                            "-itsoffset",
                            fmt::format("{:.6f}", lead),
                            "-i",
                            as_file(silent),
                            "-i",
                            as_file(input),
                            "-map",
                            "0:v",
                            "-map",
                            "1:a",
                            "-map_metadata",
                            "-1",
                            "-map_chapters",
                            "-1",
                            "-c",
                            "copy",
                            as_file(both)},
                           Stream::errors);
  if (copied.status != 0)
    throw InputError("write", copied.lines.empty() ? "ffmpeg failed" : copied.lines.back());
}

}  // namespace

struct BlurredVideos::Video {
  Video(const PictureFolder& folder, const Item& first)
      : draft(folder, PictureNames::of_video(first.video_name), first.path),
        file(draft.path(), 1 / first.frame_seconds, first.record.size) {}

  PictureFolder::Draft draft;
  VideoFile file;
};

BlurredVideos::BlurredVideos(const PictureFolder* folder, Progress& progress)
    : folder_(folder), progress_(progress) {}
BlurredVideos::~BlurredVideos() = default;

bool BlurredVideos::take(Item& item) {
  if (!folder_ || item.video_name.empty()) return true;
  try {
    if (failure_.empty()) add(item);
    if (failure_.empty() && item.last_of_input) finish(item);
  } catch (const OutputError& error) {
    failure_ = fmt::format(
        "{}: {}", folder_->path(PictureNames::of_video(item.video_name)).string(), error.what());
    if (error.code != 0) item.error = std::current_exception();
  } catch (...) {
    failure_ = reason_of(std::current_exception());
  }
  item.blurred.reset();
  if (!failure_.empty() || item.last_of_input) video_.reset();
  if (!item.last_of_input) return true;
  const std::string failure = std::exchange(failure_, "");
  if (!failure.empty() && !item.record.failure)
    item.record.failure = Failure{kind_of_unwritten_picture, failure};
  return !interrupted();
}

void BlurredVideos::add(Item& item) {
  if (!video_) video_ = std::make_unique<Video>(*folder_, item);
  const Size size = video_->file.size();
  if (!item.blurred) {
    item.blurred.emplace(size);
    for (int y = 0; y < size.height; ++y)
      std::fill_n(item.blurred->row(y), size.width, Bgr{0, 0, 0});
  }
  const auto [width, height] = item.blurred->size();
  if (item.blurred->size() != size)  // frames may change in the middle of a video
    item.blurred = resampled(item.blurred->view(), {0, 0, width, height}, size);
  video_->file.add(item.blurred->view());
}

void BlurredVideos::finish(Item& item) {
  video_->file.finish();
  try {
    add_sound(item.path);
  } catch (const std::exception& error) {
    std::string& warning = item.record.warning;
    warning += fmt::format("{}the video with blurred faces has no sound: {}",
                           warning.empty() ? "" : "; ", error.what());
  }
  if (!interrupted()) video_->draft.publish();
}

// Throws an exception if the video cannot have the sound of the input.
void BlurredVideos::add_sound(const fs::path& input) {
  if (!is_installed("ffmpeg") || !is_installed("ffprobe")) {
    if (!std::exchange(has_said_, true))
      progress_.message(
          "facesat: videos with blurred faces are without their sound: ffmpeg is not installed");
    return;
  }
  const Sound sound = find_sound(input);
  if (!sound.exists) return;
  const fs::path silent = video_->draft.path();
  const Temporary both(silent.parent_path() /
                       (silent.stem().string() + "-sound" + silent.extension().string()));
  copy_sound(silent, input, sound.lead, both.path);
  video_->file.require_whole(both.path);
  fs::rename(both.path, silent);
}

}  // namespace facesat::app
