// The files of opencv_createsamples: many small grey pictures of one size. Little-endian: the
// number of samples and of the pixels of each (int32), two zeros (int16); then for each sample a
// byte of 0 and its pixels as int16. The width and height are not in the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "boosting/samples.hpp"

namespace facesat::training {

// Does the file's length agree with what its header says? Not for an empty file, a folder, or a
// file that cannot be read.
bool is_vec_file(const std::filesystem::path& file);

// `window`: of the samples; without one they are squares. Throws UsageError if the file cannot be
// read, its length is not that of its samples, their window has another number of pixels, or a
// pixel is none.
Samples read_vec(const std::filesystem::path& file, std::optional<Size> window);

// Throws UsageError instead of overwriting a file that is no .vec, OutputError if it cannot be
// written.
void write_vec(const std::filesystem::path& file, const Samples& samples);

}  // namespace facesat::training
