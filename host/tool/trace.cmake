# Traces: files, timelines, and their export.
set(page ${CMAKE_CURRENT_LIST_DIR}/timeline.html)
set(scripts ${CMAKE_CURRENT_LIST_DIR}/timeline.js ${CMAKE_CURRENT_LIST_DIR}/timeline_view.js
  ${CMAKE_CURRENT_LIST_DIR}/timeline_input.js)
string(REPLACE ";" ":" script_list "${scripts}")
add_custom_command(
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
  COMMAND ${CMAKE_COMMAND} -DINPUT=${page} -DSCRIPTS=${script_list} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
    -DHEADER=host/tool/timeline_page.h -DNAME=pb_timeline_page -P ${PROJECT_SOURCE_DIR}/boards/cmake/page.cmake
  DEPENDS ${page} ${scripts} ${PROJECT_SOURCE_DIR}/boards/cmake/page.cmake)
pb_library(pb_ddi_calls SOURCES ${CMAKE_CURRENT_LIST_DIR}/ddi_calls.c LINKS pb_host)
pb_library(pb_trace
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/trace_anchor.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_cause.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_clock.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_ctf.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_ctf_metadata.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_export.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_file.c
    ${CMAKE_CURRENT_LIST_DIR}/guest_trace.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_guest.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_host.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_host_file.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_import.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_keep.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_lane.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_open.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_page.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_clients.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_counters.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_events.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_guests.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_list.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_marks.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_perfetto_tracks.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_proto.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_record.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_schema.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_timeline.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_wakes.c
    ${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
  LINKS pb_ddi_calls pb_card_failure pb_link_system pb_host)
