// The algorithms want arrays on 16-byte boundaries; others are copied, in the caller's stream.
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "kernels/device/device_frame.hpp"
#include "kernels/device/stream_buffer.hpp"
#include "kernels/scan/algorithm.hpp"

namespace facesat::gpu {
namespace {

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

ScanChoice choice_of(const std::string& text) {
  if (text.empty()) {
    const ScanAlgorithm& fastest = *scan_algorithms().front();
    return {&fastest, standard_settings(fastest)};
  }
  try {
    const ScanChoice choice = parse_scan(text);
    if (choice.algorithm->needs_mapped_memory &&
        choice.algorithm->needs_mapped_memory(choice.settings))
      throw BackendError(fmt::format("algorithm {}: it needs memory of the host", text));
    return choice;
  } catch (const ArgumentError& error) {
    throw BackendError(fmt::format("algorithm {}: {}", text, error.what()));
  }
}

}  // namespace

void enqueue_array_scan(ScanTask task, const std::string& algorithm, void* stream_handle) {
  const ScanChoice choice = choice_of(algorithm);
  const int device = device_of(task.input);
  if (device_of(task.output) != device)
    throw ArgumentError("the result of a scan must be on the device of its input");
  FACESAT_CUDA(cudaSetDevice(device));
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  const std::size_t bytes = static_cast<std::size_t>(task.n) * info_of(task.type).bytes;
  void* const result = task.output;
  std::optional<StreamBuffer> copy;
  if (!is_aligned(task.input) || !is_aligned(task.output)) {
    copy.emplace(bytes, device, stream);
    FACESAT_CUDA(
        cudaMemcpyAsync(copy->data(), task.input, bytes, cudaMemcpyDeviceToDevice, stream));
    task.input = task.output = copy->data();
  }
  task.settings = choice.settings;
  const StreamBuffer workspace(choice.algorithm->workspace_bytes(task), device, stream);
  if (workspace.bytes() > 0)
    FACESAT_CUDA(cudaMemsetAsync(workspace.data(), 0, workspace.bytes(), stream));
  choice.algorithm->enqueue(task, workspace.data(), stream);
  if (copy)
    FACESAT_CUDA(cudaMemcpyAsync(result, copy->data(), bytes, cudaMemcpyDeviceToDevice, stream));
}

}  // namespace facesat::gpu
