# cmake -D BUILD=... -D SOURCE=... -D LIBRARY=facesat::facesat|facesat::static -P run.cmake: installs the library into a new folder,
# builds the examples against it as a stranger would, and runs one of them.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "::" "_" name ${LIBRARY})
set(folder ${BUILD}/package-test/${name})
file(REMOVE_RECURSE ${folder})

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE out ERROR_VARIABLE out RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${out}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

foreach(component library development)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/prefix --component ${component})
endforeach()
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/cpp -B ${folder}/build -G Ninja -DCMAKE_PREFIX_PATH=${folder}/prefix
    -Dfacesat_library=${LIBRARY} -DCMAKE_CXX_FLAGS=-Wall\ -Wextra\ -Werror)
run(${CMAKE_COMMAND} --build ${folder}/build)
run(${folder}/build/tour)
if(NOT output MATCHES "detecting on .*0 faces from 0 windows.*the sum of all pixels is")
  message(FATAL_ERROR "the example printed:\n${output}")
endif()
