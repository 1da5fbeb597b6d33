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
  set(CMAKE_CUDA_ARCHITECTURES 75)  # replaced below, once the version is known
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

# Machine code for every generation from Turing on, and PTX for those to come.
if(NOT given_architectures)
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120)
  endif()
endif()

# CMake 3.25 does not know how to ask newer versions of nvcc for C++20; 554: nvcc misreads a constrained
# conversion operator.
target_compile_options(facesat_flags INTERFACE
  "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--fmad=false;--expt-relaxed-constexpr;--diag-suppress=554;-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-ffp-contract=off>")
set(CMAKE_CUDA_STANDARD_REQUIRED OFF)
