// A mark inside the picture files that facesat writes, by which it knows them again: it replaces
// its own pictures, as long as nobody has edited them, and no others. The mark also tells of which
// input a picture was made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace facesat {

// What stands for an input in the mark: the same however its path is spelled.
std::uint64_t stamp_of_input(const std::filesystem::path& input);

// Adds the mark, with a checksum of the other bytes, to a JPEG file (a comment) or PNG file (the
// keyword "Software"); other files stay as they are.
void stamp(std::vector<unsigned char>& file, std::uint64_t of_input = 0);

// Is this file empty, or does it bear the mark and has not changed since?
bool is_stamped(const std::filesystem::path& file);

// Is it made of that input?
bool is_stamped_for(const std::filesystem::path& file, std::uint64_t of_input);

// Are they one picture, whatever input it is of?
bool are_same_but_for_stamp(std::span<const unsigned char> a, std::span<const unsigned char> b);

}  // namespace facesat
