// The integral image of NPP.
#include "lab/problems/npp.hpp"
#include "lab/problems/sat.hpp"

namespace facesat::gpu {
namespace {

// The signature of nppiIntegral. Its table has (width + 1) x (height + 1) elements: `first` fills
// the first row and column, and element (x + 1, y + 1) is our element (x, y). Steps are the bytes
// from row to row. Returns 0 on success.
template <class T>
using Integral = int(const std::uint8_t* input, int input_step, T* table, int table_step,
                     NppiSize size, T first, NppStreamContext context);

struct Npp {
  Integral<std::int32_t>* to_s32 = nullptr;
  Integral<float>* to_f32 = nullptr;
  std::string why_none;  // why NPP cannot be used; empty if it can

  Npp() {
    const NppLibrary library("libnppist");
    library.find("nppiIntegral_8u32s_C1R_Ctx", to_s32);
    library.find("nppiIntegral_8u32f_C1R_Ctx", to_f32);
    why_none = library.why_none();
  }
};

const Npp& npp() {
  static const Npp loaded;
  return loaded;
}

template <class T>
void call(Integral<T>* integral, const SatTask& task, cudaStream_t stream) {
  // Our element (-1, -1), so that NPP's extra row and column lie outside our table.
  T* const corner = static_cast<T*>(task.sum) - task.sum_pitch - 1;
  const int status =
      integral(static_cast<const std::uint8_t*>(task.input), static_cast<int>(task.input_pitch),
               corner, static_cast<int>(task.sum_pitch * std::ptrdiff_t{sizeof(T)}),
               {task.size.width, task.size.height}, T{}, npp_context(stream));
  check_npp(status, "nppiIntegral");
}

void enqueue(const SatTask& task, void*, StreamHandle stream) {
  if (task.type == SatType::u8_s32)
    call(npp().to_s32, task, stream);
  else
    call(npp().to_f32, task, stream);
}

}  // namespace

std::string why_no_npp(SatType type, bool squares) {
  if ((type != SatType::u8_s32 && type != SatType::u8_f32) || squares)
    return "NPP has this table for 8u32s and 8u32f only, and without squares";
  return npp().why_none;
}

const SatAlgorithm peer_npp{
    .id = "peer_npp",
    .title = "NPP's nppiIntegral",
    .source = "NVIDIA Performance Primitives",
    .year = 2025,
    .launches = 4,  // an upper bound: the library is closed
    .reads = 2,
    .writes = 2,
    .workspace_bytes = [](SatType, Size) -> std::size_t { return 0; },
    .enqueue = enqueue,
};

}  // namespace facesat::gpu
