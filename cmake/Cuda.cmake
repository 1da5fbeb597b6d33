# Looks for nvcc; sets FACESAT_CUDA_FOUND and, unless given, CMAKE_CUDA_ARCHITECTURES.
include(CheckLanguage)
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES $ENV{CUDAARCHS})
endif()
set(given_architectures "${CMAKE_CUDA_ARCHITECTURES}")
if(NOT given_architectures)
  set(CMAKE_CUDA_ARCHITECTURES 75)  # for CMake's first look at the compiler; replaced below
endif()
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  return()
endif()
enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  return()
endif()
find_package(CUDAToolkit REQUIRED)
set(FACESAT_CUDA_FOUND ON)
# cudadevrt, for kernels that launch kernels, lies beside the runtime and has no target.
set(FACESAT_CUDA_LIBRARIES $<TARGET_FILE_DIR:CUDA::cudart_static>/libcudadevrt.a CUDA::cudart_static ${CMAKE_DL_LIBS})

if(NOT given_architectures)
  include(${CMAKE_CURRENT_LIST_DIR}/CudaArchitectures.cmake)
endif()

# Some instructions of compute capability 9.0 exist only in code for 90a, which no other GPU runs; PTX for later ones is separate.
if("90" IN_LIST CMAKE_CUDA_ARCHITECTURES)
  list(APPEND CMAKE_CUDA_ARCHITECTURES 90-virtual)
endif()
list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^90(-real)?$" "90a-real")

# -std=c++20: CMake 3.25 does not know this option of newer versions of nvcc. 554: nvcc misreads a
# constrained conversion operator.
set(FACESAT_CUDA_FLAGS -std=c++20;--fmad=false;--expt-relaxed-constexpr;--diag-suppress=554;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-ffp-contract=off)
set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
# This concerns the code for the host, which only launches; code for the GPU is always optimised.
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG")
