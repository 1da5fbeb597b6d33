#include "kernels/jpeg/jpeg_decoder.hpp"

#include <cstddef>
#include <utility>

#include "core/orientation.hpp"
#include "kernels/device/cuda.hpp"
#include "kernels/jpeg/decode.hpp"

namespace facesat::gpu {
namespace {

// Gives parts of a piece of memory away, each on a 16-byte boundary.
class Parts {
 public:
  // With null, it only counts.
  explicit Parts(std::byte* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* next(std::size_t count) {
    std::byte* const part = memory_ ? memory_ + bytes_ : nullptr;
    bytes_ += (count * sizeof(T) + 15) / 16 * 16;
    return reinterpret_cast<T*>(part);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

JpegTask task_in(Parts& parts, const JpegStream& jpeg, unsigned* has_failed) {
  const auto pieces = static_cast<std::size_t>(jpeg.header.piece_count);
  const std::size_t decoders = pieces * static_cast<std::size_t>(jpeg.header.guesses);
  const std::size_t samples = static_cast<std::size_t>(jpeg.header.block_count()) * pixels_of_block;
  const std::byte* const block = parts.next<std::byte>(jpeg.block.size());
  return {.header = reinterpret_cast<const JpegHeader*>(block),
          .segments = reinterpret_cast<const JpegSegment*>(block + jpeg.segments_at),
          .words = reinterpret_cast<const std::uint32_t*>(block + jpeg.bits_at),
          .guess_ends = parts.next<JpegPlace>(decoders),
          .links = parts.next<std::uint8_t>(decoders),
          .exits = parts.next<std::uint8_t>(exits_of(pieces)),
          .entries = parts.next<std::uint8_t>(entries_of(pieces)),
          .begins = parts.next<JpegPlace>(pieces),
          .ends = parts.next<JpegPlace>(pieces),
          .sums = parts.next<JpegSums>(pieces),
          .groups = parts.next<JpegSums>(pieces / pieces_of_group + 1),
          .coefficients = parts.next<std::int16_t>(samples),
          .samples = parts.next<std::uint8_t>(samples),
          .has_failed = has_failed};
}

}  // namespace

std::size_t jpeg_task_bytes(const JpegStream& jpeg) {
  Parts parts;
  task_in(parts, jpeg, nullptr);
  return parts.bytes();
}

JpegTask jpeg_task_in(std::byte* memory, const JpegStream& jpeg, unsigned* has_failed) {
  Parts parts(memory);
  return task_in(parts, jpeg, has_failed);
}

namespace {

class CudaJpegDecoder final : public JpegDecoder {
 public:
  explicit CudaJpegDecoder(int device) : device_(device) {
    use_device();
    has_failed_ = PinnedBuffer<unsigned>(1);
  }
  // As CudaBackend's.
  ~CudaJpegDecoder() override {
    cudaSetDevice(device_);
    if (is_under_way_) cudaStreamSynchronize(stream_);
  }

  ImageView decode(const JpegStream& jpeg, bool luma, int orientation, void* stream) override {
    use_device();
    finish();
    if (!stream && !own_stream_.get()) own_stream_ = make_stream();
    stream_ = stream ? static_cast<cudaStream_t>(stream) : own_stream_.get();
    is_under_way_ = true;
    *has_failed_.data() = 0;
    const JpegTask task = upload(jpeg);
    const Size size = upright_size(jpeg.header.size, orientation);
    ImageView picture;
    if (luma) {
      luma_.resize(size, DeviceImage<std::uint8_t>::Border::none, stream_);
      enqueue_jpeg(task, jpeg.header, orientation, luma_.view(), stream_);
      picture = image_view(luma_.view());
    } else {
      colour_.resize(size, DeviceImage<Bgr>::Border::none, stream_);
      enqueue_jpeg(task, jpeg.header, orientation, colour_.view(), stream_);
      picture = image_view(colour_.view());
    }
    picture.on_device = true;
    picture.stream = stream_;
    return picture;
  }

  bool has_failed() override {
    use_device();
    finish();
    return *has_failed_.data() != 0;
  }

 private:
  void use_device() const { FACESAT_CUDA(cudaSetDevice(device_)); }

  void finish() {
    if (is_under_way_) FACESAT_CUDA(cudaStreamSynchronize(stream_));
    is_under_way_ = false;
  }

  JpegTask upload(const JpegStream& jpeg) {
    reserve(memory_, jpeg_task_bytes(jpeg));
    // From page-locked memory, where that is in use for frames.
    FACESAT_CUDA(cudaMemcpyAsync(memory_.data(), jpeg.block.data(), jpeg.block.size(),
                                 cudaMemcpyHostToDevice, stream_));
    return jpeg_task_in(memory_.data(), jpeg, has_failed_.data());
  }

  const int device_;
  Stream own_stream_;
  cudaStream_t stream_{};              // of the last picture
  bool is_under_way_ = false;          // from decode() until has_failed()
  PinnedBuffer<unsigned> has_failed_;  // written by the device
  Buffer<std::byte> memory_;
  DeviceImage<std::uint8_t> luma_;
  DeviceImage<Bgr> colour_;
};

}  // namespace

std::unique_ptr<JpegDecoder> make_jpeg_decoder(int device) {
  return std::make_unique<CudaJpegDecoder>(device);
}

}  // namespace facesat::gpu
