// What the two files of the algorithms of Dieguez et al. 2014 have in common.
#pragma once

#include "kernels/scan/cascade.cuh"

namespace facesat::gpu::dieguez_2014 {

inline constexpr const char* paper =
    "Dieguez, Amor, Doallo: Efficient Scan Operator Methods on a GPU, SBAC-PAD 2014";

// The paper's N_tb and C.
inline constexpr std::array block_choices{8, 128, 256, 512, 1024, 2048, 4096};
inline constexpr ScanParameter threads_parameter{"threads", "threads per block (N_tb)", 256,
                                                 cascade::thread_choices},
    blocks_parameter{"blocks", "blocks (C)", 1024, block_choices};

}  // namespace facesat::gpu::dieguez_2014
