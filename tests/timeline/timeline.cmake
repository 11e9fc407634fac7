# The page of a timeline in a browser: scripts/lib.sh names the package. Only in the release build.
pb_program(timeline_sample SOURCES ${CMAKE_CURRENT_LIST_DIR}/timeline_sample.c LINKS test_trace_sample)
if(NOT PB_SANITIZE)
  pb_test(timeline_page GROUP tool
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/page.sh $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
endif()
# Programs of Python judge what is exported, with sanitizers.
if(NOT PB_SANITIZE OR NOT CMAKE_C_COMPILER_ID STREQUAL GNU)
  return()
endif()
# Perfetto's format, by its documented rules.
pb_test(timeline_perfetto GROUP tool
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/perfetto.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# The Common Trace Format, by babeltrace2.
pb_test(timeline_ctf GROUP tool
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/ctf.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# Events of hosts, in all exports.
pb_test(timeline_host GROUP tool
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/host.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
# Events of hosts on simulated cards.
pb_test(timeline_host_sim GROUP tool
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/host_sim.py $<TARGET_FILE:patchbay>
    ${PROJECT_SOURCE_DIR}/tests/data/bdw.subm.zst)
# Traces that no recording makes.
pb_test(timeline_hostile GROUP tool
  COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/hostile.py $<TARGET_FILE:timeline_sample> $<TARGET_FILE:patchbay>)
