# The emulator of each board that has one: boards/NAME/machine.c defines pb_machine_NAME.
# PB_MACHINE_BOARDS: their names. The list of them is made here, so that nobody else names a board.
file(GLOB machine_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/machine.c)
set(PB_MACHINE_BOARDS)
set(rows)
foreach(source IN LISTS machine_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  list(APPEND PB_MACHINE_BOARDS ${name})
  string(APPEND rows " ROW(${name})")
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/qemu/machine_list.h
  CONTENT "/* Made by boards/machines.cmake: ROW(name) for each board that has a machine.c. */\n#define PB_MACHINE_LIST(ROW)@rows@\n"
  @ONLY)
pb_library(pb_machines SOURCES ${PROJECT_SOURCE_DIR}/qemu/machines.c ${machine_sources})
target_include_directories(pb_machines PRIVATE ${PROJECT_BINARY_DIR}/generated)
