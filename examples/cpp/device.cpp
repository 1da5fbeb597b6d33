// An image that is in the memory of a GPU already is searched and summed there, in the order of the
// caller's stream. Without a GPU it says so.
#include <cstdio>
#include <vector>

#include <cuda_runtime_api.h>
#include <facesat.hpp>

int main() try {
  std::string why_none;
  if (facesat::devices(&why_none).empty()) {
    std::printf("%s\n", why_none.c_str());
    return 0;
  }
  constexpr facesat::Size size{640, 480};
  const std::vector<std::uint8_t> host(size.area(), 100);
  cudaStream_t stream{};
  void *image = nullptr, *table = nullptr;
  std::size_t pitch = 0;
  cudaStreamCreate(&stream);
  cudaMallocPitch(&image, &pitch, size.width, size.height);
  cudaMalloc(&table, 4 * size.area());
  cudaMemcpy2DAsync(image, pitch, host.data(), size.width, size.width, size.height,
                    cudaMemcpyHostToDevice, stream);

  // Waits for what the stream has been given so far, and for the faces.
  const facesat::Detector detector;
  const auto found = detector.detect({.pixels = image,
                                      .size = size,
                                      .pitch = static_cast<std::ptrdiff_t>(pitch),
                                      .format = facesat::PixelFormat::gray,
                                      .on_device = true,
                                      .stream = stream});
  std::printf("%zu faces on %s\n", found.faces.size(), detector.device_name().c_str());

  // Only enqueued: what follows in the stream sees the table.
  facesat::sat(
      {.data = image, .size = size, .pitch = static_cast<std::ptrdiff_t>(pitch), .on_device = true},
      {.data = table,
       .size = size,
       .pitch = 4 * size.width,
       .element = facesat::Element::u32,
       .on_device = true},
      {.stream = stream});
  std::uint32_t sum = 0;
  cudaMemcpyAsync(&sum, static_cast<std::uint32_t*>(table) + size.area() - 1, sizeof sum,
                  cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  std::printf("the sum of all pixels is %u\n", sum);
  cudaFree(table);
  cudaFree(image);
  cudaStreamDestroy(stream);
} catch (const facesat::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
