// Cameras and streams for work that may take longer than the next frame: who asks gets the newest
// one, and frames that nobody asked for are dropped.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "media/frame_source.hpp"

namespace facesat {

// Opens a camera or stream (see is_live_name()), and reads it in a thread of its own. Its next()
// waits for a frame that it has not given yet. A stream that is a video ("https://.../a.mp4") is
// read frame by frame, without dropping any. When the program is interrupted, this function returns
// null, and next() nullopt, even if the source does not answer. Throws InputError, as next() does
// when the source breaks or frames have more than `max_pixels` pixels. Builds without OpenCV open
// none.
std::unique_ptr<FrameSource> open_live(const std::string& name, const FrameChoice& choice,
                                       std::size_t max_pixels);

// Does a thread still wait for a source that does not answer? A program that ends meanwhile must
// not do so through exit().
bool is_live_source_open();

}  // namespace facesat
