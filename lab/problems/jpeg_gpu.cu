// JPEGs decoded on the GPU, for the measurement in lab/problems/jpeg.cpp.
#include <algorithm>
#include <chrono>
#include <memory>

#include "kernels/jpeg/decode.hpp"
#include "lab/problems/jpeg.hpp"
#include "lab/problems/nvidia_library.hpp"
#include "lab/stream_timer.cuh"

namespace facesat::gpu {
namespace {

// A file's bits with memory to work in, and the picture.
struct Copy {
  Buffer<std::byte> memory;
  JpegTask task;
  DeviceImage<Bgr> picture;
};

class JpegInputs {
 public:
  explicit JpegInputs(const JpegCase& all)
      : one(all),
        copies(
            static_cast<double>(jpeg_task_bytes(all.stream)),
            [this](std::size_t) { return make(); }, [this](const Copy& copy) { poison(copy); }) {}
  JpegInputs(const JpegInputs&) = delete;
  JpegInputs& operator=(const JpegInputs&) = delete;

  Image<Bgr> downloaded() {
    Image<Bgr> pixels(one.pixels.size());
    const View<Bgr> from = copies.current().picture.view(), to = pixels.view();
    FACESAT_CUDA(cudaMemcpy2D(to.data, to.pitch * sizeof(Bgr), from.data, from.pitch * sizeof(Bgr),
                              to.size.width * sizeof(Bgr), to.size.height, cudaMemcpyDeviceToHost));
    return pixels;
  }
  bool is_right() {
    return *failed.data() == 0 && equal_share(downloaded().view(), one.pixels.view()) == 1;
  }

  const JpegCase& one;
  lab::StreamTimer timer;
  PinnedBuffer<unsigned> failed{1};
  lab::Rotation<Copy> copies;

 private:
  Copy make() {
    *failed.data() = 0;
    Copy copy;
    copy.memory = Buffer<std::byte>(jpeg_task_bytes(one.stream));
    copy.task = jpeg_task_in(copy.memory.data(), one.stream, failed.data());
    const std::span<const unsigned char> block = one.stream.block;
    FACESAT_CUDA(cudaMemcpyAsync(copy.memory.data(), block.data(), block.size(),
                                 cudaMemcpyHostToDevice, timer.stream()));
    copy.picture.resize(one.pixels.size(), DeviceImage<Bgr>::Border::none, timer.stream());
    return copy;
  }
  void poison(const Copy& copy) {
    const View<Bgr> to = copy.picture.view();
    FACESAT_CUDA(cudaMemset2DAsync(to.data, to.pitch * sizeof(Bgr), 0xEE,
                                   to.size.width * sizeof(Bgr), to.size.height, timer.stream()));
  }
};

using SharedInputs = std::shared_ptr<JpegInputs>;

// The picture's memory filled.
lab::Subject floor_of(const SharedInputs& inputs) {
  const auto run = [inputs] {
    const View<Bgr> to = inputs->copies.next().picture.view();
    const std::size_t bytes = static_cast<std::size_t>(to.pitch) * to.size.height * sizeof(Bgr);
    const auto stream = inputs->timer.stream();
    return inputs->timer.us(1, [&] { FACESAT_CUDA(cudaMemsetAsync(to.data, 1, bytes, stream)); });
  };
  return {.id = "floor", .bytes = inputs->one.bytes(), .open = [run] { return lab::Runner{run}; }};
}

lab::Subject coefficients_of(const SharedInputs& inputs) {
  const auto run = [inputs] {
    const Copy& copy = inputs->copies.next();
    return inputs->timer.us(8, [&] {
      enqueue_coefficients(copy.task, inputs->one.stream.header, inputs->timer.stream());
    });
  };
  return {.id = jpeg_coefficients_id, .bytes = inputs->one.bytes(), .open = [run] {
            return lab::Runner{run};
          }};
}

lab::Subject pixels_of(const SharedInputs& inputs) {
  const auto run = [inputs] {
    const Copy& copy = inputs->copies.next();
    return inputs->timer.us(10, [&] {
      enqueue_jpeg(copy.task, inputs->one.stream.header, 0, copy.picture.view(),
                   inputs->timer.stream());
    });
  };
  return {.id = jpeg_pixels_id, .bytes = inputs->one.bytes(), .open = [=] {
            return lab::Runner{run, [inputs] { return inputs->is_right(); }};
          }};
}

// ---- nvJPEG; types of its ABI, from CUDA 11 to 13

struct NvjpegImage {
  unsigned char* channels[4];
  std::size_t pitches[4];
};
constexpr int interleaved_bgr = 6;

struct Nvjpeg {
  int (*create)(void** handle) = nullptr;
  int (*create_state)(void* handle, void** state) = nullptr;
  int (*decode)(void* handle, void* state, const unsigned char* file, std::size_t bytes, int format,
                NvjpegImage* to, cudaStream_t stream) = nullptr;
  std::string why_none;

  Nvjpeg() {
    NvidiaLibrary library("nvJPEG", "libnvjpeg");
    library.find("nvjpegCreateSimple", create);
    library.find("nvjpegJpegStateCreate", create_state);
    library.find("nvjpegDecode", decode);
    why_none = library.why_none();
  }
};

const Nvjpeg& nvjpeg() {
  static const Nvjpeg loaded;
  return loaded;
}

void check_nvjpeg(int status, const char* function) {
  if (status != 0)
    throw DeviceError(std::string("nvJPEG: ") + function + " returned " + std::to_string(status));
}

// Its handle and state, of each picture, are kept until the program ends.
lab::Subject nvjpeg_of(const SharedInputs& inputs, const SharePut& put) {
  lab::Subject subject{.id = nvjpeg_id, .bytes = inputs->one.bytes()};
  if (!nvjpeg().why_none.empty()) {
    subject.failure = nvjpeg().why_none;
    subject.is_absent = true;
    return subject;
  }
  subject.open = [=] {
    void *handle = nullptr, *state = nullptr;
    check_nvjpeg(nvjpeg().create(&handle), "nvjpegCreateSimple");
    check_nvjpeg(nvjpeg().create_state(handle, &state), "nvjpegJpegStateCreate");
    const auto run = [=] {
      const View<Bgr> picture = inputs->copies.next().picture.view();
      NvjpegImage to{{reinterpret_cast<unsigned char*>(picture.data)},
                     {picture.pitch * sizeof(Bgr)}};
      const auto begin = std::chrono::steady_clock::now();
      const auto& file = inputs->one.file;
      check_nvjpeg(nvjpeg().decode(handle, state, file.data(), file.size(), interleaved_bgr, &to,
                                   inputs->timer.stream()),
                   "nvjpegDecode");
      FACESAT_CUDA(cudaStreamSynchronize(inputs->timer.stream()));
      return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
          .count();
    };
    const auto note = [=] {
      put(nvjpeg_id, equal_share(inputs->downloaded().view(), inputs->one.pixels.view()));
    };
    return lab::Runner{run, nullptr, note};
  };
  return subject;
}

}  // namespace

lab::GpuSubjects jpeg_subjects(const JpegCase& one, int device, const std::vector<std::string>& ids,
                               SharePut put) {
  FACESAT_CUDA(cudaSetDevice(device));
  const auto inputs = std::make_shared<JpegInputs>(one);
  const auto wants = [&](const char* id) { return std::ranges::find(ids, id) != ids.end(); };
  lab::GpuSubjects all;
  all.subjects.push_back(floor_of(inputs));
  if (wants(jpeg_coefficients_id)) all.subjects.push_back(coefficients_of(inputs));
  if (wants(jpeg_pixels_id)) all.subjects.push_back(pixels_of(inputs));
  if (wants(nvjpeg_id)) all.subjects.push_back(nvjpeg_of(inputs, put));
  all.room = lab::room_for_workspaces();
  return all;
}

}  // namespace facesat::gpu
