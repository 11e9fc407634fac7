# The core with small tables. What it is made of is compiled once more, with other limits.
get_target_property(core pb_firmware SOURCES)
list(TRANSFORM core PREPEND ${PROJECT_SOURCE_DIR}/firmware/)
pb_library(pb_sim_small
  SOURCES ${core} ${PROJECT_SOURCE_DIR}/qemu/sim.c ${PROJECT_SOURCE_DIR}/qemu/sim_link.c
  LINKS pb_hal_engine pb_hal_host pb_engine_model pb_card_admin)
target_compile_definitions(pb_sim_small PUBLIC PB_BOARD_LIMITS_H="tests/unit/small_limits.h")
pb_library(test_card_fixture_small
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/card_fixture.c ${CMAKE_CURRENT_LIST_DIR}/card_queues.c
    ${CMAKE_CURRENT_LIST_DIR}/format_oracle.c ${CMAKE_CURRENT_LIST_DIR}/patch_oracle.c
  LINKS pb_sim_small pb_host)
set_target_properties(pb_sim_small test_card_fixture_small PROPERTIES EXCLUDE_FROM_ALL TRUE)
pb_unit_test(test_limits SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_limits.c LINKS test_card_fixture_small)
# Those tests of the core that need no larger tables.
foreach(name cookie cookie_between force format_edges formats moderate paged paged_patch patch peer_bugs resolve wait)
  pb_unit_test(test_small_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c LINKS test_card_fixture_small)
endforeach()
