# Tests of the firmware core, run in one process with the engine model through the host library.
pb_library(test_card_fixture
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/card_fixture.c ${CMAKE_CURRENT_LIST_DIR}/card_queues.c
    ${CMAKE_CURRENT_LIST_DIR}/format_oracle.c
    ${CMAKE_CURRENT_LIST_DIR}/patch_oracle.c ${CMAKE_CURRENT_LIST_DIR}/patch_random.c
  LINKS pb_sim pb_host)

foreach(name admit edges resolve patch patch_random patch_again formats format_set format_edges compact peer_bugs
    leftovers ways cookie cookie_between cookie_random rings replies control segment pool aperture paged paged_patch
    paging halt channel engine schedule schedule_many wait wait_ends wait_chains query moderate force rare turns general
    steps)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c LINKS test_card_fixture pb_sim pb_host)
endforeach()
pb_unit_test(test_trace SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_trace.c LINKS test_card_fixture pb_sim pb_host)
pb_tries(test_firmware_patch_random RANDOM_ENTRIES 120000 10000000)
pb_tries(test_firmware_ways SEEDS 6u 60u)

foreach(name watchdog stop_odd yield idle between telemetry)
  pb_unit_test(test_firmware_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_${name}.c ${CMAKE_CURRENT_LIST_DIR}/puppet_bench.c
    LINKS test_card_fixture pb_sim pb_host)
endforeach()
pb_unit_test(test_trace_lines
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_trace_lines.c ${CMAKE_CURRENT_LIST_DIR}/puppet_bench.c
  LINKS test_card_fixture pb_sim pb_host)

# Minutes of engine time: as released only.
if(NOT PB_SANITIZE)
  pb_unit_test(test_firmware_shares
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_shares.c ${CMAKE_CURRENT_LIST_DIR}/shares_bench.c
    LINKS test_card_fixture pb_sim pb_host)
  pb_tries(test_firmware_shares RUN_US 5000000u 5000000u)
endif()
