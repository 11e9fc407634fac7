# Schedules by seed: patchbay sim.
set(sim_sources
  ${CMAKE_CURRENT_LIST_DIR}/world.c
  ${CMAKE_CURRENT_LIST_DIR}/inside.c
  ${CMAKE_CURRENT_LIST_DIR}/client.c
  ${CMAKE_CURRENT_LIST_DIR}/account.c
  ${CMAKE_CURRENT_LIST_DIR}/player.c
  ${CMAKE_CURRENT_LIST_DIR}/strategy.c
  ${CMAKE_CURRENT_LIST_DIR}/contest.c
  ${CMAKE_CURRENT_LIST_DIR}/contest_client.c
  ${CMAKE_CURRENT_LIST_DIR}/submission.c
  ${CMAKE_CURRENT_LIST_DIR}/host.c
  ${CMAKE_CURRENT_LIST_DIR}/host_memory.c
  ${CMAKE_CURRENT_LIST_DIR}/judge.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_verdict.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_waits.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_replies.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_patience.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_share.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_interrupts.c
  ${CMAKE_CURRENT_LIST_DIR}/judge_query.c
  ${CMAKE_CURRENT_LIST_DIR}/leaks.c
  ${CMAKE_CURRENT_LIST_DIR}/options.c
  ${CMAKE_CURRENT_LIST_DIR}/shrink.c
  ${CMAKE_CURRENT_LIST_DIR}/setup.c
  ${CMAKE_CURRENT_LIST_DIR}/finish.c
  ${CMAKE_CURRENT_LIST_DIR}/supervisor.c
  ${CMAKE_CURRENT_LIST_DIR}/hostile.c
  ${CMAKE_CURRENT_LIST_DIR}/mutate.c
  ${CMAKE_CURRENT_LIST_DIR}/actions.c
  ${CMAKE_CURRENT_LIST_DIR}/actions_submit.c
  ${CMAKE_CURRENT_LIST_DIR}/actions_stop.c
  ${CMAKE_CURRENT_LIST_DIR}/schedule.c
  ${CMAKE_CURRENT_LIST_DIR}/sim_command.c)
add_library(pb_schedule_parts OBJECT ${sim_sources})
pb_configure(pb_schedule_parts)
# Each program that runs schedules has the stepped core, whose accesses are counted: they are what a pass costs.
pb_library(pb_schedules
  SOURCES $<TARGET_OBJECTS:pb_schedule_parts> ${CMAKE_CURRENT_LIST_DIR}/touch_calls.c
  LINKS pb_hal_host pb_engine_model)
target_sources(pb_schedules INTERFACE $<TARGET_OBJECTS:pb_firmware_stepped>)

# patchbay sim with events injected also at each access of the firmware to card memory.
pb_program(sim_stepped
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/touch_accesses.c ${CMAKE_CURRENT_LIST_DIR}/stepped_main.c
    $<TARGET_OBJECTS:pb_schedule_parts> $<TARGET_OBJECTS:pb_firmware_stepped>
  LINKS pb_hal_host pb_engine_model)

# The same with the tables of a small board: one job for all nodes.
get_target_property(firmware_folder pb_firmware SOURCE_DIR)
get_target_property(one_job_sources pb_firmware SOURCES)
list(TRANSFORM one_job_sources PREPEND ${firmware_folder}/)
add_library(pb_one_job_parts OBJECT ${sim_sources} ${CMAKE_CURRENT_LIST_DIR}/touch_calls.c)
add_library(pb_one_job_core OBJECT ${one_job_sources}
  ${PROJECT_SOURCE_DIR}/hal/engine/reference.c ${PROJECT_SOURCE_DIR}/hal/engine/reference_memory.c)
foreach(part pb_one_job_parts pb_one_job_core)
  pb_configure(${part})
  target_compile_definitions(${part} PRIVATE PB_BOARD_LIMITS_H="tests/sim/one_job_limits.h")
  set_target_properties(${part} PROPERTIES EXPORT_COMPILE_COMMANDS OFF EXCLUDE_FROM_ALL TRUE)
endforeach()
target_compile_definitions(pb_one_job_parts PRIVATE PB_SIM_PROGRAM="build/host/tests/sim_one_job")
target_compile_options(pb_one_job_core PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/unit/stepped.h)
pb_program(sim_one_job
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/stepped_main.c
    $<TARGET_OBJECTS:pb_one_job_parts> $<TARGET_OBJECTS:pb_one_job_core>
  LINKS pb_hal_host pb_engine_model)

# Not in the inner loop, which has no stepped core.
set_property(GLOBAL PROPERTY PB_NOT_QUICK_unit_sim ON)
pb_unit_test(test_schedules RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_schedules.c LINKS pb_schedules)
pb_unit_test(test_refusals RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_refusals.c LINKS pb_schedules)
pb_unit_test(test_account RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_account.c LINKS pb_schedules)
pb_unit_test(test_contest RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_contest.c LINKS pb_schedules)
pb_tries(test_contest TRIED 10u 20u)
pb_unit_test(test_costs RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_costs.c LINKS pb_schedules)
pb_unit_test(test_hoarder RUNNER sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_hoarder.c LINKS pb_schedules)

# CI runs fixed seeds: each revision runs equal schedules, so that a failure is the change's. scripts/assure runs new ones, many
# more; a seed that fails there becomes a test below. Segments in host memory are revoked under work in flight.
if(PB_SANITIZE)
  set(plain --count 400)
  set(each 200)
  set(few 80)
  set(contests 20)
else()
  set(plain --count 3300 --at-least 100000)
  set(each 1200)
  set(few 1200)
  set(contests 100)
endif()
pb_test(schedules GROUP simulation COST 20 COMMAND patchbay sim --jobs 1 ${plain})
pb_test(schedules_stepped GROUP simulation COMMAND sim_stepped --jobs 1 --from 100000 --count ${each})
pb_test(schedules_one_job GROUP simulation COMMAND sim_one_job --jobs 1 --from 200000 --count ${each})
pb_test(schedules_host_memory GROUP simulation COMMAND patchbay sim --jobs 1 --host-memory --from 300000 --count ${few})
pb_test(schedules_host_memory_stepped GROUP simulation
  COMMAND sim_stepped --jobs 1 --host-memory --from 400000 --count ${few})
pb_test(schedules_host_memory_one_job GROUP simulation
  COMMAND sim_one_job --jobs 1 --host-memory --from 500000 --count ${few})
pb_test(contests GROUP simulation COST 20 COMMAND patchbay sim --jobs 1 --contests --count ${contests})
pb_test(contests_one_job GROUP simulation COMMAND sim_one_job --jobs 1 --contests --count ${contests})
# A host that is halted, and one that suspends what its other stops wait for, with all stop requests in use; a RESUME behind
# a stop.
pb_test(schedules_halted GROUP simulation COMMAND sim_one_job --from 20061774 --count 1)
pb_test(schedules_blocked GROUP simulation COMMAND sim_one_job --from 21087519 --count 1)
pb_test(schedules_resumed GROUP simulation COMMAND sim_one_job --from 7030062 --count 1)
# A submission that was resumed failed before it was patched again.
pb_test(schedules_failed_resumed GROUP simulation COMMAND sim_stepped --from 11712569 --count 1)
# A priority that starved was revoked its list, and counted as served.
pb_test(contests_revoked GROUP simulation COMMAND patchbay sim --contests --from 300803 --count 1)
pb_test(schedules_too_few GROUP simulation COMMAND patchbay sim --count 1 --at-least 1000000)
set_tests_properties(schedules_too_few PROPERTIES WILL_FAIL TRUE)
