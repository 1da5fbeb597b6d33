// Video files. Builds without OpenCV (without_opencv.cpp) cannot read them.
#pragma once

#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "media/frame_source.hpp"

namespace facesat {

// Throws InputError, also if frames have more than `max_pixels` pixels. Messages do not contain the
// file name.
std::unique_ptr<FrameSource> open_video(const std::filesystem::path& file, std::size_t max_pixels);

// Is this a GIF with several frames, which open_video() can open, too? Throws InputError if the
// file cannot be read. Builds without OpenCV see none.
bool is_animation(const std::filesystem::path& file);

// File name extensions of videos, in lower case with the dot; empty if this build cannot read
// videos.
const std::vector<std::string_view>& video_extensions();

}  // namespace facesat
