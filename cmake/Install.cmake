# `cmake --install`: the header, the library (shared and static), and what find_package(facesat) and pkg-config read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Both libraries have the same objects, which are compiled once.
set(parts facesat_core facesat_boosting facesat_training facesat_filters facesat_cascades facesat_kernels facesat_library)
set_target_properties(${parts} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden
                                          VISIBILITY_INLINES_HIDDEN ON)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
set(dependencies TBB::tbb fmt::fmt hwy::hwy ZLIB::ZLIB)
if(FACESAT_CUDA_FOUND)
  list(APPEND dependencies ${FACESAT_CUDA_LIBRARIES})
endif()
add_library(facesat_shared SHARED ${objects})
add_library(facesat_static STATIC ${objects})
foreach(library facesat_shared facesat_static)
  target_link_libraries(${library} PRIVATE ${dependencies})
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
  set_target_properties(${library} PROPERTIES OUTPUT_NAME facesat LINKER_LANGUAGE CXX ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/library
                                              LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/library
                                              CUDA_RESOLVE_DEVICE_SYMBOLS ${FACESAT_CUDA_FOUND})
endforeach()
# Before 1.0 every minor version may change the binary interface.
set_target_properties(facesat_shared PROPERTIES EXPORT_NAME facesat VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(facesat_static PROPERTIES EXPORT_NAME static)
target_link_options(facesat_shared PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined
                                           LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/exported.map)
set_target_properties(facesat_shared PROPERTIES LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exported.map)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/facesat)
install(TARGETS facesat_shared EXPORT facesatSharedTargets
        LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS facesat_static EXPORT facesatStaticTargets ARCHIVE COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
foreach(kind Shared Static)
  install(EXPORT facesat${kind}Targets NAMESPACE facesat:: DESTINATION ${package} COMPONENT development)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/facesatConfig.cmake.in ${CMAKE_BINARY_DIR}/facesatConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/facesatConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/facesatConfig.cmake ${CMAKE_BINARY_DIR}/facesatConfigVersion.cmake DESTINATION ${package}
        COMPONENT development)

set(pc_private "-ltbb -lfmt -lhwy -lz -lstdc++ -lpthread -ldl -lrt")
if(FACESAT_CUDA_FOUND)
  string(APPEND pc_private " -L${CUDAToolkit_LIBRARY_DIR} -lcudadevrt -lcudart_static")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/facesat.pc.in ${CMAKE_BINARY_DIR}/facesat.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/facesat.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(FACESAT_PROGRAM)
  set(modules ${CMAKE_INSTALL_LIBDIR}/facesat)
  # The second is for systems without /proc, where $ORIGIN is unknown.
  set_target_properties(facesat PROPERTIES INSTALL_RPATH "$ORIGIN/../${modules};${CMAKE_INSTALL_FULL_LIBDIR}/facesat")
  install(TARGETS facesat RUNTIME COMPONENT program)
  if(TARGET facesat_heif)
    install(TARGETS facesat_heif LIBRARY DESTINATION ${modules} COMPONENT program)
  endif()
  if(FACESAT_OPENCV)
    install(TARGETS facesat_opencv LIBRARY DESTINATION ${modules} COMPONENT program)
  endif()
  if(FACESAT_HIGHGUI_FOUND)
    install(TARGETS facesat_highgui LIBRARY DESTINATION ${modules} COMPONENT program)
  endif()
  add_subdirectory(app/reference)
  if(FACESAT_LIVE_FOUND)
    install(FILES assets/facesat.desktop DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT program)
    install(FILES assets/facesat.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT program)
  endif()
endif()

include(cmake/Package.cmake)
