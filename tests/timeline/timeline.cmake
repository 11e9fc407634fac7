# The page of a timeline in a browser: scripts/lib.sh names the package. Only in the release build.
pb_program(timeline_sample SOURCES ${CMAKE_CURRENT_LIST_DIR}/timeline_sample.c LINKS test_trace_sample)
if(NOT PB_SANITIZE)
  add_test(NAME timeline_page
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/page.sh $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
  set_tests_properties(timeline_page PROPERTIES TIMEOUT 180)
endif()
# Programs of Python judge what is exported: once with sanitizers, once as released.
if(PB_SANITIZE AND NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
  return()
endif()
# Perfetto's format, by its documented rules.
add_test(NAME timeline_perfetto
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/perfetto.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# The Common Trace Format, by babeltrace2.
add_test(NAME timeline_ctf
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/ctf.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# Events of hosts, in all exports.
add_test(NAME timeline_host
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/host.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# Events of hosts on simulated cards.
add_test(NAME timeline_host_sim
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/host_sim.py $<TARGET_FILE:patchbay>
    ${PROJECT_SOURCE_DIR}/tests/data/bdw.subm.zst)
# Traces that no recording makes.
add_test(NAME timeline_hostile
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/hostile.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# Not some of the quick tests, which build no command.
set_tests_properties(timeline_perfetto timeline_ctf timeline_host timeline_host_sim timeline_hostile PROPERTIES LABELS long)
