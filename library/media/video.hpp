// Video files. Builds without OpenCV (video_none.cpp) read none.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "library/media/frame_source.hpp"

namespace facesat {

// Throws InputError, also for frames of more than `max_pixels`. Messages do not name the file.
std::unique_ptr<FrameSource> open_video(const std::filesystem::path& file, std::size_t max_pixels);

// File name extensions of videos, in lower case with the dot; none if this build reads no videos.
const std::vector<std::string_view>& video_extensions();

}  // namespace facesat
