#include "kernels/scan/scan_on_host.hpp"

#include <new>

#include "kernels/device/platform.hpp"
#include "kernels/scan/scan_reference.hpp"

namespace facesat::gpu {

void enqueue_host_scan(const ScanTask& task, void* workspace, StreamHandle stream) {
  static_assert(sizeof(ScanTask) <= host_scan_bytes);
  const auto* const kept = new (workspace) ScanTask(task);
#if defined(FACESAT_SIMT)
  static_cast<void>(stream);
  scan_reference(*kept);
#else
  const auto run = [](void* argument) { scan_reference(*static_cast<const ScanTask*>(argument)); };
  FACESAT_CUDA(cudaLaunchHostFunc(stream, run, const_cast<ScanTask*>(kept)));
#endif
}

}  // namespace facesat::gpu
