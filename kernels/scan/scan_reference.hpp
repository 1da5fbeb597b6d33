// The definition of a scan, on the CPU by one thread: what tests and benchmarks compare with.
#pragma once

#include "kernels/scan/algorithm.hpp"
#include "kernels/scan/operators.hpp"

namespace facesat::gpu {

// Scans arrays that the CPU can access, which may be the same.
inline void scan_reference(const ScanTask& task) {
  visit_type(task.type, [&]<class T>(T) {
    const T* const input = static_cast<const T*>(task.input);
    T* const output = static_cast<T*>(task.output);
    T sum = identity_of<T>(task.op);
    for (int i = 0; i < task.n; ++i) {
      const T next = combine(task.op, sum, input[i]);
      output[i] = task.is_inclusive ? next : sum;
      sum = next;
    }
  });
}

}  // namespace facesat::gpu
