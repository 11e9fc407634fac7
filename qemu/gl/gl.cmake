# The program of the renderers: only where virglrenderer is installed. The card finds it at run time.
find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(VIRGL IMPORTED_TARGET virglrenderer)
endif()
if(VIRGL_FOUND)
  pb_program(patchbay-renderer SOURCES ${CMAKE_CURRENT_LIST_DIR}/renderer.c LINKS PkgConfig::VIRGL)
endif()
