# Traces: files of them, what they come to, and how they are shown.
add_custom_command(
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
  COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_LIST_DIR}/timeline.html -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
    -DHEADER=host/tool/timeline_page.h -DNAME=pb_timeline_page -P ${PROJECT_SOURCE_DIR}/cmake/text_array.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/timeline.html ${PROJECT_SOURCE_DIR}/cmake/text_array.cmake)
pb_library(pb_trace
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/trace_export.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_file.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_page.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_schema.c
    ${CMAKE_CURRENT_LIST_DIR}/trace_timeline.c
    ${CMAKE_CURRENT_BINARY_DIR}/timeline_page.c
  LINKS pb_host)
