# The host library proper, which a kernel driver can use: no OS, no heap.
pb_library(pb_host SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/names.c
  ${CMAKE_CURRENT_LIST_DIR}/card.c
  ${CMAKE_CURRENT_LIST_DIR}/channel.c
  ${CMAKE_CURRENT_LIST_DIR}/crash.c
  ${CMAKE_CURRENT_LIST_DIR}/command.c
  ${CMAKE_CURRENT_LIST_DIR}/segment.c
  ${CMAKE_CURRENT_LIST_DIR}/host_trace.c
  ${CMAKE_CURRENT_LIST_DIR}/queue.c
  ${CMAKE_CURRENT_LIST_DIR}/stop.c
  ${CMAKE_CURRENT_LIST_DIR}/query.c
  ${CMAKE_CURRENT_LIST_DIR}/trace.c
  ${CMAKE_CURRENT_LIST_DIR}/telemetry.c
  ${CMAKE_CURRENT_LIST_DIR}/format.c
  ${CMAKE_CURRENT_LIST_DIR}/compact.c
  ${CMAKE_CURRENT_LIST_DIR}/lift.c
  ${CMAKE_CURRENT_LIST_DIR}/render.c
  ${CMAKE_CURRENT_LIST_DIR}/render_commands.c
  ${CMAKE_CURRENT_LIST_DIR}/render_blit.c
  ${CMAKE_CURRENT_LIST_DIR}/paging.c
  ${CMAKE_CURRENT_LIST_DIR}/residency_tree.c
  ${CMAKE_CURRENT_LIST_DIR}/residency_room.c
  ${CMAKE_CURRENT_LIST_DIR}/residency.c
  ${CMAKE_CURRENT_LIST_DIR}/residency_presume.c
  ${CMAKE_CURRENT_LIST_DIR}/residency_submit.c)
