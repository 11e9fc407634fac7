# The core with small tables: its sources are compiled once more, with other limits.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(board_definitions ${PB_BOARD_DEFINITIONS})
list(FILTER PB_BOARD_DEFINITIONS EXCLUDE REGEX "^PB_BOARD_LIMITS_H=")
get_target_property(core pb_firmware SOURCES)
list(TRANSFORM core PREPEND ${PROJECT_SOURCE_DIR}/firmware/)
pb_library(pb_sim_small
  SOURCES ${core} ${PROJECT_SOURCE_DIR}/qemu/sim.c ${PROJECT_SOURCE_DIR}/qemu/sim_link.c
  LINKS pb_hal_engine pb_hal_host pb_engine_gl pb_engine_model pb_hal_card_admin)
target_compile_definitions(pb_sim_small PUBLIC PB_BOARD_LIMITS_H="tests/unit/firmware/small_limits.h")
if(PB_SANITIZE)
  target_compile_options(pb_sim_small PRIVATE -O0) # as suites are: tests/suites.cmake
endif()
set(unit ${PROJECT_SOURCE_DIR}/tests/unit)
pb_library(test_card_fixture_small
  SOURCES ${unit}/card_fixture.c ${unit}/card_queues.c ${unit}/format_oracle.c ${unit}/patch_oracle.c ${unit}/patch_words.c
  LINKS pb_sim_small pb_host)
set_target_properties(pb_sim_small test_card_fixture_small PROPERTIES EXCLUDE_FROM_ALL TRUE)
pb_unit_test(test_limits RUNNER firmware_small SOURCES ${here}/test_limits.c LINKS test_card_fixture_small)
# Those suites of the core that need no larger tables.
foreach(file memory/paged patch/cookie patch/cookie_between patch/format_edges patch/formats patch/paged_patch patch/patch
    patch/peer_bugs prepare/resolve)
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH folder)
  pb_unit_test(test_small_${name} RUNNER firmware_small SUITE test_firmware_${name}
    SOURCES ${here}/${folder}/test_firmware_${name}.c LINKS test_card_fixture_small)
endforeach()
foreach(name waits failures hosts)
  pb_unit_test(test_small_${name} RUNNER firmware_small SUITE test_scenario_${name}
    SOURCES ${scenario}/scenario_${name}.c ${scenario_sources} LINKS test_card_fixture_small)
endforeach()
set(PB_BOARD_DEFINITIONS ${board_definitions})
