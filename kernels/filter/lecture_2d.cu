// Two-dimensional convolution in five of the ten ways of a lecture and in one of ours: a thread per
// pixel, in blocks of 32 x 8 threads, with windows from global memory. lecture_2d_tiles.cu has the
// other five. The title of its slide follows each idea.
//
//   naive: a thread reads its pixel's whole window, and decides for each element of it whether it
//     lies within the picture. One read for each weight; neighbours read the same pixels, which
//     only caches keep. "2D Convolution", the exercise's first part.
//   constant_mask: all threads of a warp need the same weight at the same time, which constant
//     memory delivers from a cache of its own: the mask is copied into a __constant__ variable.
//     Masks of at most 4096 weights. "2D convolution: trick".
//   parameter_mask: the same with the mask as a parameter of the kernel, which lies in constant
//     memory, too, and belongs to the launch, so that there is nothing to be shared or copied.
//   pitched: a copy first, whose rows start on boundaries of 512 bytes, as cudaMallocPitch makes
//     them, so that a warp's reads are whole lines of memory, whatever the width. One read more.
//     Appendix "Memory pitch and 2D layouts".
//   padded: a first kernel writes the picture and as much of its border as windows reach, so that
//     the second one needs no conditions. One read more for each element of the padded picture.
//     "Run a first kernel which PAD the matrix".
//   valid: only the pixels whose window lies within the picture, without borders and conditions. Of
//     N x N pixels, N^2 - 4 R (N - R) are left with radius R. "Compute ONLY the central elements".
// Launches: 1; 2 for padded; a copy and a kernel for pitched and constant_mask; none for valid
//   where no window lies within the picture.
// Workspace: the padded picture, the copy in pitched memory; none for the others.
// Source: lecture on convolution and integral images.
// Departs from it in: parameter_mask is ours; calls of constant_mask in several streams wait for
//   each other, since they share the variable; results of valid are stored where those of the
//   other algorithms are, so that they can be compared, and elements around them are not written.
#include <bit>
#include <cstring>
#include <map>
#include <mutex>

#include "kernels/filter/pass.cuh"

namespace facesat::gpu {
namespace {

constexpr int naive_width = 32, naive_height = 8;  // threads of a block

// The sum for pixel (x, y). `weight(i)` is weight i of the mask, row by row.
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved(const Pass& pass, int x, int y,
                                                        Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i)
      sum += weight(j * columns + i) *
             value_of<Pass>(pass.at(x + pass.radius.x - i, y + pass.radius.y - j));
  return sum;
}

// The same where the whole window lies within the picture. The loops count upwards: with an index
// that runs from radius to -radius, nvcc 13.0 sums up the wrong pixels for some radii (-O3, sm_90).
template <class Pass, class Weight>
__device__ __forceinline__ typename Pass::Sum convolved_inside(const Pass& pass, int x, int y,
                                                               Weight weight) {
  typename Pass::Sum sum{};
  const int columns = pass.radius.columns(), rows = pass.radius.rows();
  for (int j = 0; j < rows; ++j) {
    const auto* const last =
        pass.input + (y + pass.radius.y - j) * pass.input_pitch + x + pass.radius.x;
    for (int i = 0; i < columns; ++i) sum += weight(j * columns + i) * value_of<Pass>(last[-i]);
  }
  return sum;
}

// ---- naive ----

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height) naive_kernel(Pass pass) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

template <class Pass>
void launch_naive(const Pass& pass, StreamHandle stream) {
  FACESAT_LAUNCH(naive_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                 dim3(naive_width, naive_height), stream, pass);
}

void enqueue_naive(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&](const auto& pass) { launch_naive(pass, stream); });
}

// ---- constant_mask, parameter_mask ----

constexpr int most_constant_weights = 4096;

std::string why_not_constant(const FilterTask& task) {
  return task.mask.radius.area() > most_constant_weights ? "at most 4096 weights" : "";
}

// The bits of the weights of constant_mask, of all calls on a device.
__constant__ std::uint32_t constant_weights[most_constant_weights];

template <class Weight>
__device__ __forceinline__ Weight constant_weight(int i) {
  return std::bit_cast<Weight>(constant_weights[i]);
}

// Copies weights that are in device memory into the variable and enqueues what reads them. Both
// wait until what was enqueued here before, in whatever stream, is done with the variable. Throws
// CudaError.
template <class Launch>
void with_constant_weights(const void* weights, std::size_t bytes, StreamHandle stream,
                           Launch launch) {
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  std::memcpy(constant_weights, weights, bytes);
  launch();
#else
  static std::mutex mutex;
  static std::map<int, cudaEvent_t> last_use;  // of each device
  const std::scoped_lock lock(mutex);
  int device = 0;
  FACESAT_CUDA(cudaGetDevice(&device));
  const auto [last, is_first] = last_use.try_emplace(device);
  if (is_first) FACESAT_CUDA(cudaEventCreateWithFlags(&last->second, cudaEventDisableTiming));
  FACESAT_CUDA(cudaStreamWaitEvent(stream, last->second));
  FACESAT_CUDA(cudaMemcpyToSymbolAsync(constant_weights, weights, bytes, 0,
                                       cudaMemcpyDeviceToDevice, stream));
  launch();
  FACESAT_CUDA(cudaEventRecord(last->second, stream));
#endif
}

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height) constant_mask_kernel(Pass pass) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y,
             convolved(pass, x, y, [](int i) { return constant_weight<typename Pass::Sum>(i); }));
}

void enqueue_constant_mask(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    const std::size_t bytes =
        static_cast<std::size_t>(task.mask.radius.area()) * sizeof(typename Pass::Sum);
    with_constant_weights(pass.weights, bytes, stream, [&] {
      FACESAT_LAUNCH(constant_mask_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                     dim3(naive_width, naive_height), stream, pass);
    });
  });
}

// Parameters have 4 KB in all on GPUs before Volta and with CUDA before 12.1, then 32 KB.
template <class Weight>
struct ParameterMask {
  Weight weights[most_constant_weights];
};

template <class Pass>
__global__ void __launch_bounds__(naive_width* naive_height)
    parameter_mask_kernel(Pass pass, FACESAT_PARAMETER(ParameterMask<typename Pass::Sum>) mask) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved(pass, x, y, [&](int i) { return mask.weights[i]; }));
}

void enqueue_parameter_mask(const FilterTask& task, void*, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    ParameterMask<typename Pass::Sum> mask;
    std::memcpy(mask.weights, task.mask.host_weights,
                static_cast<std::size_t>(task.mask.radius.area()) * sizeof(mask.weights[0]));
    FACESAT_LAUNCH(parameter_mask_kernel<Pass>, grid_of(pass.size, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, mask);
  });
}

// ---- pitched ----

// Enqueues a copy within device memory, from rows of one pitch to rows of another; pitches and
// `row_bytes` are in bytes. Throws CudaError.
void enqueue_copy_of_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t row_bytes, int rows, StreamHandle stream) {
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  for (int y = 0; y < rows; ++y)
    std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(y) * to_pitch,
                static_cast<const std::byte*>(from) + static_cast<std::size_t>(y) * from_pitch,
                row_bytes);
#else
  FACESAT_CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes,
                                 static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream));
#endif
}

constexpr std::size_t pitch_line = 512;

std::size_t pitch_bytes(const FilterTask& task) {
  const std::size_t row =
      static_cast<std::size_t>(task.size.width) * info_of(task.type).input_bytes;
  return (row + pitch_line - 1) / pitch_line * pitch_line;
}

std::size_t pitched_bytes(const FilterTask& task) {
  return pitch_bytes(task) * static_cast<std::size_t>(task.size.height);
}

double reads_of_pitched(const FilterTask& task) {
  return 1 + reads_of_window(task);
}

void enqueue_pitched(const FilterTask& task, void* workspace, StreamHandle stream) {
  with_pass(task, [&]<class Pass>(Pass pass) {
    constexpr std::size_t element = sizeof(typename Pass::In);
    enqueue_copy_of_rows(workspace, pitch_bytes(task), pass.input,
                         static_cast<std::size_t>(pass.input_pitch) * element,
                         static_cast<std::size_t>(pass.size.width) * element, pass.size.height,
                         stream);
    pass.input = static_cast<const typename Pass::In*>(workspace);
    pass.input_pitch = static_cast<std::ptrdiff_t>(pitch_bytes(task) / element);
    launch_naive(pass, stream);
  });
}

// ---- padded ----

Size padded(const FilterTask& task) {
  return {task.size.width + 2 * task.mask.radius.x, task.size.height + 2 * task.mask.radius.y};
}

std::size_t padded_bytes(const FilterTask& task) {
  return static_cast<std::size_t>(padded(task).area()) * info_of(task.type).input_bytes;
}

double reads_of_padded(const FilterTask& task) {
  return static_cast<double>(padded(task).area()) / static_cast<double>(task.size.area()) +
         reads_of_window(task);
}

template <class Pass>
__global__ void pad_kernel(Pass pass, typename Pass::In* to, Size padded) {
  const auto [x, y] = pixel_of_thread();
  if (x >= padded.width || y >= padded.height) return;
  to[static_cast<std::ptrdiff_t>(y) * padded.width + x] =
      pass.at(x - pass.radius.x, y - pass.radius.y);
}

template <class Pass>
__global__ void padded_kernel(Pass pass) {
  const auto [x, y] = pixel_of_thread();
  if (!pass.has(x, y)) return;
  pass.store(x, y, convolved_inside(pass, x, y, [&](int i) { return pass.weights[i]; }));
}

void enqueue_padded(const FilterTask& task, void* workspace, StreamHandle stream) {
  const dim3 block(naive_width, naive_height);
  with_pass(task, [&]<class Pass>(Pass pass) {
    const Size size = padded(task);
    auto* const copy = static_cast<typename Pass::In*>(workspace);
    FACESAT_LAUNCH(pad_kernel<Pass>, grid_of(size, naive_width, naive_height), block, stream, pass,
                   copy, size);
    pass.input_pitch = size.width;
    pass.input = copy + pass.radius.y * pass.input_pitch + pass.radius.x;
    FACESAT_LAUNCH(padded_kernel<Pass>, grid_of(pass.size, naive_width, naive_height), block,
                   stream, pass);
  });
}

// ---- valid ----

template <class Pass>
__global__ void valid_kernel(Pass pass, Size valid) {
  const auto [x, y] = pixel_of_thread();
  if (x >= valid.width || y >= valid.height) return;
  const int column = x + pass.radius.x, row = y + pass.radius.y;
  pass.store(column, row,
             convolved_inside(pass, column, row, [&](int i) { return pass.weights[i]; }));
}

void enqueue_valid(const FilterTask& task, void*, StreamHandle stream) {
  const Size valid{task.size.width - 2 * task.mask.radius.x,
                   task.size.height - 2 * task.mask.radius.y};
  if (valid.width < 1 || valid.height < 1) return;
  with_pass(task, [&]<class Pass>(const Pass& pass) {
    FACESAT_LAUNCH(valid_kernel<Pass>, grid_of(valid, naive_width, naive_height),
                   dim3(naive_width, naive_height), stream, pass, valid);
  });
}

// ---- the table of algorithms ----

// Two launches, the first one of a copy.
constexpr FilterAlgorithm of_a_copy(FilterAlgorithm algorithm) {
  algorithm.launches = 2;
  return algorithm;
}
constexpr FilterAlgorithm of_a_copy(FilterAlgorithm algorithm,
                                    std::size_t (*workspace_bytes)(const FilterTask&)) {
  algorithm = of_a_copy(algorithm);
  algorithm.workspace_bytes = workspace_bytes;
  return algorithm;
}

constexpr FilterAlgorithm valid_part(FilterAlgorithm algorithm) {
  algorithm.is_valid_part = true;
  return algorithm;
}

}  // namespace

const FilterAlgorithm lecture_2d_naive = of_lecture(
    "lecture_2d_naive", "A thread per pixel reads its window", reads_of_window, enqueue_naive);
const FilterAlgorithm lecture_2d_constant_mask = of_a_copy(
    limited(of_lecture("lecture_2d_constant_mask", "The mask in a variable in constant memory",
                       reads_of_window, enqueue_constant_mask),
            why_not_constant));
const FilterAlgorithm lecture_2d_parameter_mask =
    limited(of_lecture("lecture_2d_parameter_mask",
                       "The mask as a parameter of the kernel, in constant memory, too",
                       reads_of_window, enqueue_parameter_mask),
            why_not_constant);
const FilterAlgorithm lecture_2d_pitched =
    of_a_copy(of_lecture("lecture_2d_pitched", "A copy in pitched memory first", reads_of_pitched,
                         enqueue_pitched),
              pitched_bytes);
const FilterAlgorithm lecture_2d_padded =
    of_a_copy(of_lecture("lecture_2d_padded", "A kernel that pads the picture first",
                         reads_of_padded, enqueue_padded),
              padded_bytes);
const FilterAlgorithm lecture_2d_valid =
    valid_part(of_lecture("lecture_2d_valid", "Only pixels whose window lies within the picture",
                          reads_of_window, enqueue_valid));

}  // namespace facesat::gpu
