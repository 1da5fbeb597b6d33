// NPP's filters, which are measured beside those of the collection.
#pragma once

#include <memory>
#include <string>

#include "kernels/bench/filter_bench.hpp"
#include "kernels/filter/algorithm.hpp"

namespace facesat::gpu {

// The filter, with a replicated border. NPP's Sobel has results of 16 bits in place of 32.
class NppFilter {
 public:
  // Copies what it needs of the mask. Throws CudaError or MemoryError.
  NppFilter(BenchFilter filter, const Mask<std::int32_t>& mask);
  ~NppFilter();

  // Why it cannot be measured; empty if it can.
  const std::string& why_not() const { return why_not_; }
  // The task's pictures; its mask and border are not looked at. Throws NppError.
  void enqueue(const FilterTask& task, StreamHandle stream) const;

 private:
  struct Weights;
  BenchFilter filter_;
  Radius radius_;
  int divisor_;
  std::unique_ptr<Weights> weights_;
  std::string why_not_;
};

}  // namespace facesat::gpu
