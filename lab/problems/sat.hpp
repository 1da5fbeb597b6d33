// SAT algorithms (summed area tables, also called integral images) are measured on pictures whose
// sums are exact: their pixels, the floor and the check. lab/problems/sat.cpp is the problem
// itself, for `facesat bench sat`. Without CUDA headers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/image.hpp"
#include "facesat.hpp"
#include "kernels/sat/algorithm.hpp"
#include "kernels/sat/model.hpp"
#include "lab/measure.hpp"

namespace facesat::gpu {

// Fills the task's input from `seed`. Integers are noise in all bits. For floating-point tables,
// one pixel in 128 is 1 and the others are 0, so that up to 32768 x 32768 every sum is exact in any
// order, and can be checked without a tolerance.
void enqueue_fill(const SatTask& task, std::uint32_t seed, StreamHandle stream);

// The floor: reads every pixel once and writes it, converted, to every table once, 16 bytes at a
// time. No SAT algorithm can be faster than this by more than noise.
void enqueue_floor(const SatTask& task, StreamHandle stream);

// Counts the elements of the task's tables that differ from the pixel plus the elements to the left
// and above minus the element diagonally between these; adds the count to *wrong, in device memory.
void enqueue_check(const SatTask& task, unsigned* wrong, StreamHandle stream);

// What users have without the collection: CUB and NPP. Both fulfil the contract of
// kernels/sat/algorithm.hpp, but are not in its registry.
extern const SatAlgorithm peer_cub, peer_npp;

// A sentence that says why NPP cannot make tables of this type (and, with `squares`, the squared
// integral image) on this machine; empty if it can. peer_npp may be enqueued only if it is empty.
std::string why_no_npp(SatType type, bool squares);

struct SatCase {
  SatType type = SatType::u8_s32;
  Size size;
  bool squares = false;  // also the squared integral image, for 8-bit input

  double bytes() const {  // of the picture once and of each table once
    const SatTypeInfo& info = info_of(type);
    return static_cast<double>(size.area()) *
           static_cast<double>(info.input_bytes + info.table_bytes * (squares ? 2 : 1));
  }
};

// A launch of an algorithm. Of an algorithm with one launch per anti-diagonal: all launches of a
// kernel, with the largest of their grids and without times.
struct SatLaunch {
  LaunchFigures figures;
  int count = 1;
  std::vector<double> us{};  // time of each run, sorted
};

struct SatSubjects : lab::GpuSubjects {
  // The launches of one of these algorithms, in their order, timed in runs of their own, because
  // the events between them take time. Those of other libraries' kernels are not known. Throws
  // Error.
  std::function<std::vector<SatLaunch>(const std::string& id, int runs)> launches;
};

// The floor, a copy of as many bytes, and those of the ids that are the registry's ("id:value" for
// an algorithm with a parameter) or the peers', with pictures and tables in device memory. Without
// CUDA there are none. Throws DeviceError or MemoryError.
SatSubjects sat_subjects(const SatCase& one, int device, const std::vector<std::string>& ids);

}  // namespace facesat::gpu

namespace facesat::lab {

// Those of the ids that are the CPU's: cpu_2r2w, cpu_4r1w, cpu_blocks, cpu_backend. They sum noise
// or, if it is given, this picture of 8 bits, which must have the size of the case.
std::vector<Subject> sat_on_cpu(const gpu::SatCase& one, const std::vector<std::string>& ids,
                                View<const std::uint8_t> picture = {});

// The member "kernels" of an algorithm's row: an array with an object for each launch.
Json sat_kernels(const std::vector<gpu::SatLaunch>& launches);

// The table of `--kernels`, with a line for each kernel of the rows; rows without "kernels" have
// none.
std::string sat_kernels_table(const Json& rows);

}  // namespace facesat::lab
