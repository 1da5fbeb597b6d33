# Sets CMAKE_CUDA_ARCHITECTURES for FACESAT_GPUS.
set(FACESAT_GPUS "HERE" CACHE STRING
    "Device code: HERE (for the GPUs of this machine; PTX, which drivers compile, if there are none) or ALL (every generation)")

set(CMAKE_CUDA_ARCHITECTURES 75-virtual)
if(FACESAT_GPUS STREQUAL "ALL")
  # Machine code for every generation from Turing on, and PTX for future ones.
  set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    set(CMAKE_CUDA_ARCHITECTURES 75-real 80-real 86-real 89-real 90-real 100-real 120)
  endif()
  return()
elseif(NOT FACESAT_GPUS STREQUAL "HERE")
  message(FATAL_ERROR "FACESAT_GPUS is ${FACESAT_GPUS}; expected HERE or ALL")
endif()

# "9.0", one line per GPU. Without a driver there is no nvidia-smi, or it fails.
execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
  OUTPUT_VARIABLE capabilities RESULT_VARIABLE failure ERROR_QUIET)
string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
if(failure OR NOT capabilities)
  return()
endif()
list(REMOVE_DUPLICATES capabilities)
list(TRANSFORM capabilities REPLACE "\\." "")
list(TRANSFORM capabilities APPEND "-real")
set(CMAKE_CUDA_ARCHITECTURES ${capabilities})
