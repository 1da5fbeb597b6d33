// Decoding JPEGs (kernels/jpeg) is measured on files in memory, beside libjpeg-turbo and, where it
// is installed, nvJPEG. lab/problems/jpeg.cpp is the problem itself, for `facesat bench jpeg`.
// Without CUDA headers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "kernels/jpeg/jpeg_stream.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

struct JpegCase {
  std::vector<unsigned char> file;
  Image<Bgr> pixels;  // as libjpeg-turbo decodes them
  JpegStream stream;

  double bytes() const {  // of the file, and of the picture
    return static_cast<double>(file.size() + pixels.size().area() * sizeof(Bgr));
  }
};

// How many of the bytes of a picture are those of libjpeg-turbo, 0 .. 1.
inline double equal_share(View<const Bgr> pixels, View<const Bgr> expected) {
  std::size_t equal = 0;
  for (int y = 0; y < expected.size.height; ++y) {
    const auto* const a = reinterpret_cast<const std::uint8_t*>(pixels.row(y));
    const auto* const b = reinterpret_cast<const std::uint8_t*>(expected.row(y));
    for (std::size_t i = 0; i < expected.size.width * sizeof(Bgr); ++i) equal += a[i] == b[i];
  }
  return static_cast<double>(equal) / static_cast<double>(expected.size.area() * sizeof(Bgr));
}

// Called after each timed run of an algorithm that is not exact, with its equal_share().
using SharePut = std::function<void(const std::string& id, double share)>;

// Those that have their own times on the device. coefficients: the first part of pixels. pixels:
// from bits in device memory to a picture there. nvjpeg: from the file to a picture there.
constexpr const char *jpeg_coefficients_id = "coefficients", *jpeg_pixels_id = "pixels",
                     *nvjpeg_id = "nvjpeg";

// The floor, and those of the ids that are above. Without CUDA there are none. Throws DeviceError
// or MemoryError.
lab::GpuSubjects jpeg_subjects(const JpegCase& one, int device, const std::vector<std::string>& ids,
                               SharePut put);

}  // namespace facesat::gpu
