// The prefix scan of CUB, NVIDIA's library of device-wide and block-wide algorithms, as a user
// calls it: DeviceScan, with look-back in a single pass.
//
// Shapes: CUB's own choice for the device, the type and the operator.
// Reads and writes per element: 1 / 1.
// Launches: 2; the first one initialises the tiles' states.
// Workspace: CUB's temporary storage.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cub/device/device_scan.cuh>
#include <cuda/std/functional>

#include "kernels/device/platform.hpp"
#include "kernels/scan/operators.hpp"
#include "lab/problems/scan.hpp"

namespace facesat::gpu {
namespace {

template <ScanOperator op>
struct Combine {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return combine(op, a, b);
  }
};

// Integers are added as unsigned ones, which give the same bits and may overflow.
template <class T>
auto summand(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  else
    return value;
}

// Calls visit(T{}, operator). CUB has a kernel of its own for sums of its users' plus.
template <class Visit>
void visit_elements(const ScanTask& task, Visit visit) {
  visit_type(task.type, [&]<class T>(T zero) {
    switch (task.op) {
      case ScanOperator::sum:
        return visit(summand(zero), cuda::std::plus<>{});
      case ScanOperator::product:
        return visit(zero, Combine<ScanOperator::product>{});
      case ScanOperator::minimum:
        return visit(zero, Combine<ScanOperator::minimum>{});
      case ScanOperator::maximum:
        return visit(zero, Combine<ScanOperator::maximum>{});
    }
  });
}

// As CUB's functions: without `storage`, only sets `bytes` to its size.
void scan(const ScanTask& task, void* storage, std::size_t& bytes, cudaStream_t stream) {
  visit_elements(task, [&]<class T, class Op>(T, Op op) {
    const T* const input = static_cast<const T*>(task.input);
    T* const output = static_cast<T*>(task.output);
    if (task.is_inclusive)
      FACESAT_CUDA(
          cub::DeviceScan::InclusiveScan(storage, bytes, input, output, op, task.n, stream));
    else
      FACESAT_CUDA(cub::DeviceScan::ExclusiveScan(storage, bytes, input, output, op,
                                                  identity_of<T>(task.op), task.n, stream));
  });
}

std::size_t storage_bytes(const ScanTask& task) {
  std::size_t bytes = 0;
  scan(task, nullptr, bytes, nullptr);
  return bytes;
}

}  // namespace

const ScanAlgorithm peer_cub_scan{
    .id = "peer_cub",
    .title = "CUB's DeviceScan",
    .source = "NVIDIA CUB",
    .year = 2025,
    .cost = [](const ScanTask&) { return ScanCost{.launches = 2, .reads = 1, .writes = 1}; },
    .workspace_bytes = storage_bytes,
    .enqueue =
        [](const ScanTask& task, void* workspace, StreamHandle stream) {
          std::size_t bytes = storage_bytes(task);
          scan(task, workspace, bytes, stream);
        },
};

}  // namespace facesat::gpu
