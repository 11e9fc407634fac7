# The emulator of each board that has one: boards/NAME/machine.c defines pb_machine_NAME.
# The list of them is made here, so that no other file names a board.
# PB_E2E_BOARDS: those whose board.cmake asks for the end-to-end tests, with PB_BOARD_E2E: ON for all, or the names of
# some, which PB_E2E_OF_NAME hands on; PB_E2E_CI_OF_NAME: those of them that CI runs, if the board has PB_BOARD_E2E_CI;
# PB_E2E_ASSEMBLY_BOARDS: those of them that have their hot loops in assembly too.
# PB_BOARD_DIRS: folders of more boards, which lie elsewhere.
file(GLOB machine_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/machine.c)
set(PB_BOARD_DIRS "" CACHE STRING "folders of boards elsewhere, whose emulators the command gets")
foreach(folder IN LISTS PB_BOARD_DIRS)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR} NORMALIZE)
  string(REGEX REPLACE "/+$" "" folder "${folder}")
  list(APPEND machine_sources ${folder}/machine.c)
endforeach()
set(rows)
foreach(source IN LISTS machine_sources)
  cmake_path(GET source PARENT_PATH folder)
  cmake_path(GET folder FILENAME name)
  string(APPEND rows " ROW(${name})")
  block(PROPAGATE PB_E2E_BOARDS PB_E2E_ASSEMBLY_BOARDS PB_E2E_OF_${name} PB_E2E_CI_OF_${name})
    include(${folder}/board.cmake)
    # Where card memory and host memory lie, as the firmware has it.
    list(FILTER PB_BOARD_DEFINITIONS INCLUDE REGEX "^PB_CARD_")
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS "${PB_BOARD_DEFINITIONS}")
    set(PB_E2E_OF_${name} ${PB_BOARD_E2E})
    set(PB_E2E_CI_OF_${name} ${PB_BOARD_E2E_CI})
    if(PB_BOARD_E2E)
      list(APPEND PB_E2E_BOARDS ${name})
      if(PB_BOARD_LOOPS)
        list(APPEND PB_E2E_ASSEMBLY_BOARDS ${name})
      endif()
    endif()
  endblock()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/qemu/machine_list.h
  CONTENT "/* Made by boards/machines.cmake: ROW(name) for each board that has a machine.c. */\n#define PB_MACHINE_LIST(ROW)@rows@\n"
  @ONLY)
pb_library(pb_machines SOURCES ${PROJECT_SOURCE_DIR}/qemu/machines.c ${machine_sources})
target_include_directories(pb_machines PRIVATE ${PROJECT_BINARY_DIR}/generated)
