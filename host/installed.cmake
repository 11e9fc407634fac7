# The libraries that others link, of the objects of ours. With BUILD_SHARED_LIBS they are shared. Until 1.0 each minor
# release may change functions, so its number is part of a shared library's name.

# pb_installed_library(TARGET NAME FILE PARTS target...): patchbay::NAME, in libFILE.
function(pb_installed_library target name file)
  cmake_parse_arguments(arg "" "" "PARTS;LINKS" ${ARGN})
  list(TRANSFORM arg_PARTS REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_library(${target} EXCLUDE_FROM_ALL ${objects})
  add_library(patchbay::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME ${file} LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>)
  target_link_libraries(${target} PUBLIC ${arg_LINKS})
endfunction()

# Headers whose place in the tree is not that among the installed ones.
configure_file(${PROJECT_SOURCE_DIR}/qemu/sim.h ${PROJECT_BINARY_DIR}/include/patchbay/sim.h COPYONLY)
configure_file(${PROJECT_SOURCE_DIR}/hal/engine/packets.h ${PROJECT_BINARY_DIR}/include/patchbay/engine/packets.h COPYONLY)

# A host of a card: the library proper, the functions of a WDDM miniport, and the links of Linux processes.
pb_installed_library(pb_patchbay patchbay patchbay PARTS pb_host pb_wddm pb_link_system pb_link_socket pb_link_pci
  pb_link_gdb)
# A card in the caller's own process, for tests of drivers.
pb_installed_library(pb_patchbay_sim sim patchbay-sim
  PARTS pb_sim pb_firmware pb_hal_engine pb_hal_host pb_engine_model pb_engine_gl pb_hal_engine_model pb_hal_engine_gl
    pb_hal_gl pb_hal_card_admin
  LINKS pb_patchbay)
