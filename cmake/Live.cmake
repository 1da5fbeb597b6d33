# The window: sets FACESAT_LIVE_FOUND and defines the target facesat_window_libraries. FACESAT_LIVE_MISSING lists the
# libraries that are missing.
find_package(PkgConfig)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(glfw IMPORTED_TARGET glfw3)
  pkg_check_modules(imgui IMPORTED_TARGET imgui)
endif()
find_program(GLAD_GENERATOR glad)
# Debian's package has the sources of Dear ImGui's backends as examples.
find_path(IMGUI_BACKENDS imgui_impl_glfw.cpp PATHS /usr/share/doc/libimgui-dev/examples/backends NO_DEFAULT_PATH)

set(FACESAT_LIVE_MISSING "")
if(NOT FACESAT_OPENCV)
  list(APPEND FACESAT_LIVE_MISSING "OpenCV's videoio")
endif()
if(NOT glfw_FOUND)
  list(APPEND FACESAT_LIVE_MISSING "GLFW 3")
endif()
if(NOT imgui_FOUND OR NOT IMGUI_BACKENDS)
  list(APPEND FACESAT_LIVE_MISSING "Dear ImGui with its backends")
endif()
if(NOT GLAD_GENERATOR)
  list(APPEND FACESAT_LIVE_MISSING "glad")
endif()
list(JOIN FACESAT_LIVE_MISSING ", " FACESAT_LIVE_MISSING)
if(FACESAT_LIVE_MISSING)
  return()
endif()
set(FACESAT_LIVE_FOUND ON)

set(glad ${CMAKE_BINARY_DIR}/glad)
add_custom_command(
  OUTPUT ${glad}/src/gl.c ${glad}/include/glad/gl.h
  COMMAND ${GLAD_GENERATOR} --quiet --reproducible --api gl:core=3.3 --extensions= --out-path ${glad} c
  COMMENT "Generating the OpenGL loader" VERBATIM)
enable_language(C)
add_library(facesat_window_libraries STATIC ${glad}/src/gl.c ${IMGUI_BACKENDS}/imgui_impl_glfw.cpp
                                            ${IMGUI_BACKENDS}/imgui_impl_opengl3.cpp)
set_target_properties(facesat_window_libraries PROPERTIES UNITY_BUILD OFF)
pkg_get_variable(imgui_includes imgui includedir)
target_include_directories(facesat_window_libraries SYSTEM PUBLIC ${glad}/include ${imgui_includes} ${imgui_includes}/backends)
target_link_libraries(facesat_window_libraries PUBLIC PkgConfig::imgui PkgConfig::glfw ${CMAKE_DL_LIBS})
