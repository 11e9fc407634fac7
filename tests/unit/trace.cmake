# Traces: files, schemas, timelines, and what they are shown as.
pb_library(test_trace_sample SOURCES ${CMAKE_CURRENT_LIST_DIR}/trace_sample.c LINKS pb_trace)
foreach(name trace_tool trace_export)
  pb_unit_test(test_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_trace_sample cjson)
endforeach()
