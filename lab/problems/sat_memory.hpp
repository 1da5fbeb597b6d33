// Device memory for one picture and its tables, laid out as SAT (summed area table) algorithms
// require (SatTask in kernels/sat/algorithm.hpp).
#pragma once

#include "kernels/device/cuda.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {

// An input, whose contents are undefined, and its tables, which are zero, with their borders.
class SatMemory {
 public:
  // Throws MemoryError.
  SatMemory(SatType type, Size size, bool squares) {
    const auto [unused, name, input_bytes, table_bytes] = info_of(type);
    const auto height = static_cast<std::size_t>(size.height);
    task_.type = type;
    task_.size = size;
    task_.input_pitch = pitch_of(size.width, input_bytes);
    input_ = Buffer<std::byte>(static_cast<std::size_t>(task_.input_pitch) * height * input_bytes);
    task_.input = input_.data();
    // 64 bytes to the left of each row, so that column -1 exists and column 0 is aligned.
    const auto border = static_cast<std::ptrdiff_t>(64 / table_bytes);
    const std::ptrdiff_t pitch = pitch_of(size.width, table_bytes) + border;
    const auto make_table = [&](Buffer<std::byte>& memory) -> void* {
      memory = Buffer<std::byte>(static_cast<std::size_t>(pitch) * (height + 1) * table_bytes);
      FACESAT_CUDA(cudaMemset(memory.data(), 0, memory.bytes()));
      return memory.data() + (pitch + border) * static_cast<std::ptrdiff_t>(table_bytes);
    };
    task_.sum = make_table(sum_);
    task_.sum_pitch = pitch;
    if (squares) {
      task_.squared_sum = make_table(squared_sum_);
      task_.squared_pitch = pitch;
    }
  }
  const SatTask& task() const { return task_; }

  // Overwrites the tables, so that an old result is not mistaken for a new one.
  void poison(StreamHandle stream) const {
    const std::size_t element = info_of(task_.type).table_bytes;
    const auto fill = [&](void* table, std::ptrdiff_t pitch) {
      if (table)
        FACESAT_CUDA(cudaMemset2DAsync(table, static_cast<std::size_t>(pitch) * element, 0xEE,
                                       static_cast<std::size_t>(task_.size.width) * element,
                                       static_cast<std::size_t>(task_.size.height), stream));
    };
    fill(task_.sum, task_.sum_pitch);
    fill(task_.squared_sum, task_.squared_pitch);
  }

 private:
  static std::ptrdiff_t pitch_of(int width, std::size_t element_bytes) {
    const auto elements = static_cast<std::ptrdiff_t>(64 / element_bytes);
    return (width + elements - 1) / elements * elements;
  }

  SatTask task_;
  Buffer<std::byte> input_, sum_, squared_sum_;
};

}  // namespace facesat::gpu
