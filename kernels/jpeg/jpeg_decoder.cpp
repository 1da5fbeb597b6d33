#include "kernels/jpeg/jpeg_decoder.hpp"

#include <algorithm>
#include <cstddef>

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

// What is uploaded besides the bits.
struct Description {
  JpegHeader* header;
  JpegSegment* segments;

  Description(Parts& parts, const JpegStream& jpeg)
      : header(parts.next<JpegHeader>(1)),
        segments(parts.next<JpegSegment>(jpeg.segments.size())) {}
};

JpegTask task_of(Parts& parts, const JpegStream& jpeg) {
  const auto pieces = static_cast<std::size_t>(jpeg.header.piece_count);
  const std::size_t samples = static_cast<std::size_t>(jpeg.header.block_count()) * pixels_of_block;
  const std::size_t decoders = pieces * static_cast<std::size_t>(jpeg.header.guesses);
  const std::size_t groups = pieces / pieces_of_group + 1;
  const Description description(parts, jpeg);
  return {.header = description.header,
          .segments = description.segments,
          .words = parts.next<std::uint32_t>(jpeg.bits.size() / sizeof(std::uint32_t)),
          .guess_ends = parts.next<JpegPlace>(decoders),
          .links = parts.next<std::uint8_t>(decoders),
          .exits = parts.next<std::uint8_t>(exits_of(pieces)),
          .entries = parts.next<std::uint8_t>(entries_of(pieces)),
          .begins = parts.next<JpegPlace>(pieces),
          .ends = parts.next<JpegPlace>(pieces),
          .sums = parts.next<JpegSums>(pieces),
          .groups = parts.next<JpegSums>(groups),
          .coefficients = parts.next<std::int16_t>(samples),
          .samples = parts.next<std::uint8_t>(samples),
          .has_failed = parts.next<unsigned>(1)};
}

class CudaJpegDecoder final : public JpegDecoder {
 public:
  explicit CudaJpegDecoder(int device) : device_(device) {
    use_device();
    stream_ = make_stream();
    wait_ = std::make_unique<StreamWait>();
    has_failed_ = PinnedBuffer<unsigned>(1);
  }
  // As CudaBackend's.
  ~CudaJpegDecoder() override {
    cudaSetDevice(device_);
    cudaStreamSynchronize(stream_.get());
  }

  ImageView decode(const JpegStream& jpeg, bool luma, int orientation) override {
    use_device();
    FACESAT_CUDA(cudaStreamSynchronize(stream_.get()));  // the last upload reads the staging
    upload(jpeg);
    const Size size = upright_size(jpeg.header.size, orientation);
    const cudaStream_t stream = stream_.get();
    ImageView picture;
    if (luma) {
      luma_.resize(size, DeviceImage<std::uint8_t>::Border::none, stream);
      enqueue_jpeg(task_, jpeg.header, orientation, luma_.view(), stream);
      picture = image_view(luma_.view());
    } else {
      colour_.resize(size, DeviceImage<Bgr>::Border::none, stream);
      enqueue_jpeg(task_, jpeg.header, orientation, colour_.view(), stream);
      picture = image_view(colour_.view());
    }
    FACESAT_CUDA(cudaMemcpyAsync(has_failed_.data(), task_.has_failed, sizeof(unsigned),
                                 cudaMemcpyDeviceToHost, stream));
    picture.on_device = true;
    picture.stream = stream;
    return picture;
  }

  bool has_failed() override {
    use_device();
    wait_->wait(stream_.get());
    return *has_failed_.data() != 0;
  }

 private:
  void use_device() const { FACESAT_CUDA(cudaSetDevice(device_)); }

  void upload(const JpegStream& jpeg) {
    Parts described, all;
    const Description sizes(described, jpeg);
    task_of(all, jpeg);
    if (staging_.size() < described.bytes()) {
      staging_ = PinnedBuffer<std::byte>();
      staging_ = PinnedBuffer<std::byte>(described.bytes());
    }
    reserve(memory_, all.bytes());
    Parts parts(memory_.data()), staged(staging_.data());
    task_ = task_of(parts, jpeg);
    const Description description(staged, jpeg);
    *description.header = jpeg.header;
    std::ranges::copy(jpeg.segments, description.segments);
    FACESAT_CUDA(cudaMemcpyAsync(memory_.data(), staging_.data(), described.bytes(),
                                 cudaMemcpyHostToDevice, stream_.get()));
    // They are in page-locked memory, where that is in use for frames.
    FACESAT_CUDA(cudaMemcpyAsync(const_cast<std::uint32_t*>(task_.words), jpeg.bits.data(),
                                 jpeg.bits.size(), cudaMemcpyHostToDevice, stream_.get()));
  }

  const int device_;
  Stream stream_;
  std::unique_ptr<StreamWait> wait_;
  PinnedBuffer<std::byte> staging_;
  PinnedBuffer<unsigned> has_failed_;
  Buffer<std::byte> memory_;
  JpegTask task_{};
  DeviceImage<std::uint8_t> luma_;
  DeviceImage<Bgr> colour_;
};

}  // namespace

std::unique_ptr<JpegDecoder> make_jpeg_decoder(int device) {
  return std::make_unique<CudaJpegDecoder>(device);
}

}  // namespace facesat::gpu
