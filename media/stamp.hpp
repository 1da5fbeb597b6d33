// A mark inside the pictures and videos that facesat writes. facesat replaces only files that have
// the mark and that nobody has edited since. It also records from which input a file was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace facesat {

// The value that represents an input in the mark; it does not depend on how the path is spelled.
std::uint64_t stamp_of_input(const std::filesystem::path& input);

// Adds the mark, with a checksum of the other bytes, to a JPEG file (as a comment) or a PNG file
// (under the keyword "Software"); other files are not changed. `of_input`: stamp_of_input(), or 0
// if the picture was not made from one input.
void stamp(std::vector<unsigned char>& file, std::uint64_t of_input = 0);

// The mark of a video, to be put at the end of a file of `size` bytes: a part that players pass
// over. Editing a video writes it anew, so the mark has the size in place of a checksum. Empty for
// other containers than those of VideoFile.
std::string video_stamp(const std::filesystem::path& video, std::uint64_t size,
                        std::uint64_t of_input);

// Is this file empty, or does it have the mark and is it unchanged since it was marked?
bool is_stamped(const std::filesystem::path& file);

// Does this file have the mark for that input, and is it unchanged since it was marked?
bool is_stamped_for(const std::filesystem::path& file, std::uint64_t of_input);

// Are these the same picture, whatever inputs they were made from?
bool are_same_but_for_stamp(std::span<const unsigned char> a, std::span<const unsigned char> b);

}  // namespace facesat
