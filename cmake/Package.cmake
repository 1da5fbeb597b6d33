# `cpack` makes Debian packages of the components of Install.cmake: the program, the library, and what programs that use the
# library are built with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The facesat authors <facesat@localhost>")
set(CPACK_COMPONENTS_ALL library development)
if(FACESAT_PROGRAM)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
# CPack leaves out this summary, its default, so that a description begins with the package's own line.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_NAME} built using CMake")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
if(FACESAT_CUDA_FOUND)
  string(APPEND CPACK_DEBIAN_PACKAGE_VERSION +cuda)  # replaces one without
endif()

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME facesat)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "opencv-data, fonts-open-sans")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS ffmpeg) # the sound of 'facesat detect --blur'
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Face detection with exactly the rectangles of OpenCV
Finds faces in pictures, videos and cameras by Haar and LBP cascades on
integral images (summed area tables), on the CPU or a CUDA GPU, and shows in
a window how it does.")

set(library libfacesat${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS opencv-data)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Face detection with exactly the rectangles of OpenCV (library)
A detector that threads share, for images in host memory or on a GPU, and
integral images (summed area tables) by many algorithms.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libfacesat-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${CPACK_DEBIAN_PACKAGE_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "libtbb-dev, libfmt-dev, libhwy-dev, zlib1g-dev") # for facesat::static
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Face detection with exactly the rectangles of OpenCV (development)
The header facesat.hpp, the static library, what CMake and pkg-config read,
and the manual with examples.")

add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/changelog.gz COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${CMAKE_BINARY_DIR}/changelog.gz
                   DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md VERBATIM)
add_custom_target(changelog ALL DEPENDS ${CMAKE_BINARY_DIR}/changelog.gz)
install(FILES ${PROJECT_SOURCE_DIR}/docs/library.md ${PROJECT_SOURCE_DIR}/docs/cascades.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libfacesat-dev COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/cpp/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libfacesat-dev/examples COMPONENT development)
if(FACESAT_PROGRAM)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/detect.md ${PROJECT_SOURCE_DIR}/docs/cascades.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/facesat COMPONENT program)
endif()
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component})
endforeach()
include(CPack)
