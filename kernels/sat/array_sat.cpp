// The algorithms want rows on 16-byte boundaries, and a table with a border of zeros. Arrays that
// are not like that are copied, in the caller's stream, to or from memory of such a layout.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "kernels/device/device_frame.hpp"
#include "kernels/device/stream_buffer.hpp"
#include "kernels/sat/algorithm.hpp"

namespace facesat::gpu {
namespace {

constexpr std::size_t alignment = 16;  // that the algorithms need
constexpr std::size_t line = 128;      // bytes of a cache line

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

bool is_aligned(const void* data, std::ptrdiff_t pitch) {
  return reinterpret_cast<std::uintptr_t>(data) % alignment == 0 &&
         static_cast<std::size_t>(pitch) % alignment == 0;
}

// Of types that facesat::sat() lets through to a device.
SatType type_of(Element input, Element table) {
  switch (input) {
    case Element::u8:
      return table == Element::f32   ? SatType::u8_f32
             : table == Element::s32 ? SatType::u8_s32
                                     : SatType::u8_u32;
    case Element::s32:
      return SatType::s32_s32;
    case Element::u32:
      return SatType::u32_u32;
    case Element::f32:
      return SatType::f32_f32;
    case Element::f64:
      return SatType::f64_f64;
    case Element::u16:
    case Element::s16:
    case Element::u64:
    case Element::s64:
      break;
  }
  throw BackendError("no algorithm sums elements of this type on a device");
}

// An array in a layout that the algorithms take.
struct Rows {
  std::byte* data;  // of element (0, 0)
  std::size_t pitch;

  std::byte* row(int y) const { return data + y * static_cast<std::ptrdiff_t>(pitch); }
};

// Copies rows within device memory.
void copy(const Rows& from, const Rows& to, std::size_t row_bytes, int rows, cudaStream_t stream) {
  FACESAT_CUDA(cudaMemcpy2DAsync(to.data, std::max(to.pitch, row_bytes), from.data,
                                 std::max(from.pitch, row_bytes), row_bytes,
                                 static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
}

// What is summed: the caller's own memory or, if its rows are not aligned, a copy.
class Input {
 public:
  Input(const ConstArrayView& array, int device, cudaStream_t stream)
      : rows_{static_cast<std::byte*>(const_cast<void*>(array.data)),  // only read
              static_cast<std::size_t>(array.pitch)} {
    const std::size_t row =
        static_cast<std::size_t>(array.size.width) * bytes_per_element(array.element);
    if (is_aligned(array.data, array.size.height > 1 ? array.pitch : 0)) {
      rows_.pitch = std::max(rows_.pitch, row);
      return;
    }
    const std::size_t pitch = rounded_up(row, line);
    copy_.emplace(pitch * array.size.height, device, stream);
    const Rows copied{copy_->data(), pitch};
    copy(rows_, copied, row, array.size.height, stream);
    rows_ = copied;
  }
  const Rows& rows() const { return rows_; }

 private:
  Rows rows_;
  std::optional<StreamBuffer> copy_;
};

// The table with its border: the caller's own memory if it can be that, else memory from which the
// table is copied at the end.
class Output {
 public:
  // `size` is that of the input.
  Output(const ArrayView& table, Size size, bool exclusive, int device, cudaStream_t stream)
      : element_(static_cast<std::size_t>(bytes_per_element(table.element))),
        size_(size),
        exclusive_(exclusive),
        caller_{static_cast<std::byte*>(table.data), static_cast<std::size_t>(table.pitch)},
        rows_{caller_.row(1) + element_, caller_.pitch},
        stream_(stream) {
    if (!exclusive || !is_aligned(rows_.data, table.pitch)) {
      const std::size_t pitch = rounded_up(line + row_bytes(), line);
      staged_.emplace(pitch * (size.height + 1), device, stream);
      rows_ = {staged_->data() + pitch + line, pitch};
    }
    FACESAT_CUDA(cudaMemsetAsync(rows_.row(-1) - element_, 0, row_bytes() + element_, stream));
    FACESAT_CUDA(cudaMemset2DAsync(rows_.data - element_, rows_.pitch, 0, element_,
                                   static_cast<std::size_t>(size.height), stream));
  }
  const Rows& rows() const { return rows_; }

  // To be called when everything that writes the table is enqueued.
  void finish() const {
    if (!staged_) return;
    if (exclusive_)
      copy({rows_.row(-1) - element_, rows_.pitch}, caller_, row_bytes() + element_,
           size_.height + 1, stream_);
    else
      copy(rows_, caller_, row_bytes(), size_.height, stream_);
  }

 private:
  std::size_t row_bytes() const { return static_cast<std::size_t>(size_.width) * element_; }

  std::size_t element_;  // in bytes
  Size size_;
  bool exclusive_;
  Rows caller_, rows_;
  cudaStream_t stream_;
  std::optional<StreamBuffer> staged_;
};

SatAlgorithm algorithm_of(const std::string& text) {
  if (text.empty()) return *sat_algorithms().front();
  const SatChoice choice = choose_sat(text);
  if (!choice.algorithm) throw BackendError(fmt::format("algorithm {}: {}", text, choice.why_not));
  return *choice.algorithm;
}

}  // namespace

void enqueue_array_sat(const ConstArrayView& input, const ArrayView& table,
                       const SatOptions& options) {
  const SatAlgorithm algorithm = algorithm_of(options.algorithm);
  const int device = device_of(input.data);
  if (device_of(table.data) != device)
    throw ArgumentError("the table of an integral image must be on the device of its input");
  FACESAT_CUDA(cudaSetDevice(device));
  const auto stream = static_cast<cudaStream_t>(options.stream);
  const Input from(input, device, stream);
  const Output to(table, input.size, options.exclusive, device, stream);
  const SatType type = type_of(input.element, table.element);
  const StreamBuffer workspace(algorithm.workspace_bytes(type, input.size), device, stream);
  if (workspace.bytes() > 0)
    FACESAT_CUDA(cudaMemsetAsync(workspace.data(), 0, workspace.bytes(), stream));
  const auto elements = [](const Rows& rows, Element element) {
    return static_cast<std::ptrdiff_t>(rows.pitch) / bytes_per_element(element);
  };
  SatTask task{.type = type,
               .size = input.size,
               .input = from.rows().data,
               .input_pitch = elements(from.rows(), input.element),
               .parameter = algorithm.value};
  void*& sum = options.squares ? task.squared_sum : task.sum;
  (options.squares ? task.squared_pitch : task.sum_pitch) = elements(to.rows(), table.element);
  sum = to.rows().data;
  algorithm.enqueue(task, workspace.data(), stream);
  to.finish();
}

}  // namespace facesat::gpu
