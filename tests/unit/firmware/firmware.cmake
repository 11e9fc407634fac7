# Suites of the firmware core, which runs in one process with the engine model and the host library. One folder for each
# folder of firmware/; suites of the whole core stand here.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(core_libraries test_card_fixture pb_sim pb_host)

function(pb_core_suites folder)
  foreach(name IN LISTS ARGN)
    pb_unit_test(test_${name} RUNNER firmware SOURCES ${here}/${folder}/test_${name}.c LINKS ${core_libraries})
  endforeach()
endfunction()

pb_core_suites(command firmware_control firmware_query firmware_replies firmware_stops)
pb_core_suites(channel firmware_channel firmware_quota firmware_rings)
pb_core_suites(prepare firmware_admit firmware_contract firmware_edges firmware_jobs firmware_known firmware_lists
  firmware_paging firmware_resolve)
pb_core_suites(patch firmware_compact firmware_cookie firmware_cookie_between firmware_cookie_random firmware_format_edges
  firmware_format_set firmware_formats firmware_general firmware_kept firmware_kept_left firmware_leftovers firmware_paged_patch firmware_patch
  firmware_patch_again firmware_patch_random firmware_peer_bugs firmware_rare firmware_ways)
pb_core_suites(engine firmware_charge recall_order)
pb_core_suites(queue contexts firmware_checks firmware_crowd firmware_waiters firmware_windows policy_fair policy_fifo queue_table
  schedule_order)
pb_core_suites(memory firmware_aperture firmware_host firmware_host_revoke firmware_outer firmware_paged
  firmware_pool firmware_segment firmware_wipe)
pb_core_suites(observe firmware_crash trace trace_queues)
pb_core_suites(. firmware_attacks firmware_steps)
pb_tries(test_firmware_patch_random RANDOM_ENTRIES 120000 10000000)
pb_tries(test_firmware_ways SEEDS 6u 60u)

# On an engine and a clock that the test moves.
set(puppet_bench ${PROJECT_SOURCE_DIR}/tests/unit/puppet_bench.c)
foreach(file prepare/test_firmware_brief prepare/test_firmware_fill engine/test_firmware_cannot_stop engine/test_firmware_limits engine/test_firmware_given_up
    memory/test_firmware_revocation
    observe/test_firmware_telemetry observe/test_trace_counter observe/test_trace_lines
    test_firmware_between test_firmware_boot test_firmware_yield)
  cmake_path(GET file FILENAME name)
  pb_unit_test(${name} RUNNER firmware SOURCES ${here}/${file}.c ${puppet_bench} LINKS ${core_libraries})
endforeach()

# Scenarios: one interpreter, a table of them for each subject.
set(scenario ${here}/scenario)
set(scenario_sources ${scenario}/scenario.c ${scenario}/scenario_card.c ${scenario}/scenario_host.c
  ${scenario}/scenario_puppet.c ${scenario}/scenario_submit.c ${puppet_bench})
foreach(name schedule stops waits failures hosts)
  pb_unit_test(test_scenario_${name} RUNNER firmware
    SOURCES ${scenario}/scenario_${name}.c ${scenario_sources} LINKS ${core_libraries})
endforeach()

# Formats of other drivers, on the card.
pb_unit_test(test_peer_formats RUNNER firmware
  SOURCES ${here}/patch/test_peer_formats.c LINKS test_peer_kernels ${core_libraries})

# Minutes of engine time: as released only.
if(NOT PB_SANITIZE)
  pb_unit_test(test_firmware_shares RUNNER firmware
    SOURCES ${here}/queue/test_firmware_shares.c ${here}/queue/shares_bench.c LINKS ${core_libraries})
  pb_tries(test_firmware_shares RUN_US 5000000u 5000000u)
endif()

# A core that refuses to start needs no card.
pb_unit_test(test_firmware_refuse RUNNER firmware SOURCES ${here}/test_firmware_refuse.c LINKS pb_firmware pb_hal_host)

# The state machines: their tables, and the pictures of them in docs/.
pb_library(test_machines SOURCES ${here}/machines.c)
pb_unit_test(test_firmware_machines RUNNER firmware SOURCES ${here}/test_firmware_machines.c LINKS test_machines)
pb_program(print_machines SOURCES ${here}/print_machines.c LINKS test_machines)
set(check_pictures ${PROJECT_SOURCE_DIR}/scripts/machines --check $<TARGET_FILE:print_machines>)
pb_test(machine_pictures GROUP unit COMMAND ${check_pictures})
file(GLOB pictures CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/machines/*)
pb_quick(machine_pictures ${check_pictures}
  DEPENDS print_machines ${PROJECT_SOURCE_DIR}/scripts/machines ${PROJECT_SOURCE_DIR}/docs/machines.md ${pictures})
