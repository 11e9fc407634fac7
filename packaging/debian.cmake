# cpack -G DEB: the packages patchbay, libpatchbay-dev and patchbay-firmware, one for each component of the installation.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME patchbay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(PB_MAINTAINER "The Patchbay authors <authors@patchbay.invalid>" CACHE STRING "maintainer of the Debian packages")
set(CPACK_PACKAGE_CONTACT "${PB_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL tool devel firmware)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# What Debian wants beside the files: copyright, changelog, compressed pages, libraries without symbols for a debugger.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/debian/complete.cmake)
set(CPACK_PB_SOURCE ${PROJECT_SOURCE_DIR})

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME patchbay)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "patchbay-firmware (= ${PROJECT_VERSION}-1), qemu-system-arm")
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "qemu-system-misc, gdb-multiarch")
set(CPACK_COMPONENT_TOOL_DESCRIPTION "scheduler firmware of a graphics card: emulated card and tools
The command patchbay emulates a card whose scheduler firmware is Patchbay, and
shows what a card is, what it does, and why its firmware stopped.")

set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME libpatchbay-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS libc6-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SUGGESTS patchbay)
set(CPACK_COMPONENT_DEVEL_DESCRIPTION "scheduler firmware of a graphics card: host library
The library by which hosts and drivers reach a card whose scheduler firmware is
Patchbay: headers, static libraries, and examples.")

set(CPACK_DEBIAN_FIRMWARE_PACKAGE_NAME patchbay-firmware)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_SECTION electronics)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_RECOMMENDS "python3, cmake")
set(CPACK_DEBIAN_FIRMWARE_PACKAGE_SUGGESTS "gcc-arm-none-eabi, gcc-riscv64-unknown-elf, patchbay")
set(CPACK_COMPONENT_FIRMWARE_DESCRIPTION "scheduler firmware of a graphics card: images and sources
Images of the firmware for the boards that it knows, and its sources, from
which an image for another board is built.")
include(CPack)
