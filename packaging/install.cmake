# cmake --install: the command, the host libraries with their headers, and the sources and images of the firmware.
# Components: tool, devel, firmware.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(share ${CMAKE_INSTALL_DATADIR}/patchbay)
set(packages ${CMAKE_INSTALL_LIBDIR}/cmake)

install(TARGETS patchbay RUNTIME COMPONENT tool)
if(TARGET patchbay-renderer)
  install(TARGETS patchbay-renderer DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/patchbay COMPONENT tool)
endif()
install(FILES docs/patchbay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tool)
install(FILES packaging/completion.bash RENAME patchbay
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
# The command finds what is installed beside it, wherever the prefix is moved to.
foreach(folder "IMAGES;${share}/images" "LIBEXEC;${CMAKE_INSTALL_LIBEXECDIR}/patchbay")
  list(GET folder 0 name)
  list(GET folder 1 path)
  file(RELATIVE_PATH path /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${path})
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/host/tool/board_image.c TARGET_DIRECTORY patchbay
    APPEND PROPERTY COMPILE_DEFINITIONS PB_TO_${name}="${path}")
endforeach()

# Host libraries.
set_target_properties(pb_patchbay pb_patchbay_sim PROPERTIES EXCLUDE_FROM_ALL OFF)
install(TARGETS pb_patchbay pb_patchbay_sim EXPORT patchbay COMPONENT devel
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/patchbay ${PROJECT_BINARY_DIR}/include/patchbay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT devel)
install(EXPORT patchbay FILE patchbayTargets.cmake NAMESPACE patchbay:: DESTINATION ${packages}/patchbay COMPONENT devel)
install(FILES packaging/patchbayConfig.cmake DESTINATION ${packages}/patchbay COMPONENT devel)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/patchbayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/patchbayConfigVersion.cmake
  DESTINATION ${packages}/patchbay COMPONENT devel)
install(DIRECTORY host/examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT devel)
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
foreach(module patchbay patchbay-sim)
  configure_file(packaging/${module}.pc.in packaging/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/packaging/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
endforeach()

# The firmware: a source tree of its own, which CMake builds as it builds this one, and the images that are built already.
install(FILES CMakeLists.txt LICENSE DESTINATION ${share} COMPONENT firmware)
install(DIRECTORY firmware hal linker DESTINATION ${share} COMPONENT firmware)
install(DIRECTORY boards DESTINATION ${share} COMPONENT firmware
  PATTERN machines.cmake EXCLUDE PATTERN machine.c EXCLUDE PATTERN suites.cmake EXCLUDE PATTERN flash.sh EXCLUDE)
install(DIRECTORY qemu/mcu DESTINATION ${share}/qemu COMPONENT firmware)
install(DIRECTORY include/patchbay/abi DESTINATION ${share}/include/patchbay COMPONENT firmware)
install(PROGRAMS scripts/seal scripts/stack.py DESTINATION ${share}/scripts COMPONENT firmware)
include(packaging/pdsc.cmake)
# Sources are for any architecture: not below CMAKE_INSTALL_LIBDIR, which may name one.
set(firmware_package ${CMAKE_INSTALL_DATADIR}/cmake/patchbay_firmware)
file(RELATIVE_PATH to_share /prefix/${firmware_package} /prefix/${share})
configure_file(packaging/patchbay_firmwareConfig.cmake.in packaging/patchbay_firmwareConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/patchbay_firmwareConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${PROJECT_BINARY_DIR}/packaging/patchbay_firmwareConfig.cmake
  ${PROJECT_BINARY_DIR}/packaging/patchbay_firmwareConfigVersion.cmake
  DESTINATION ${firmware_package} COMPONENT firmware)
file(GLOB boards RELATIVE ${PROJECT_SOURCE_DIR}/boards CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/board.cmake)
foreach(board IN LISTS boards)
  cmake_path(GET board PARENT_PATH board)
  foreach(ending elf bin)
    install(FILES ${PROJECT_SOURCE_DIR}/build/${board}/patchbay-${board}.${ending}
      DESTINATION ${share}/images COMPONENT firmware OPTIONAL)
  endforeach()
endforeach()
