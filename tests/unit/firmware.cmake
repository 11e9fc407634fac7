# Tests of the firmware core, run in one process with the engine model through the host library.
pb_library(test_card_fixture SOURCES ${CMAKE_CURRENT_LIST_DIR}/card_fixture.c ${CMAKE_CURRENT_LIST_DIR}/patch_oracle.c
  LINKS pb_sim pb_host)

foreach(name admit edges resolve patch patch_random rings replies control segment pool aperture paged paging halt channel engine watchdog)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c LINKS test_card_fixture pb_sim pb_host)
endforeach()
