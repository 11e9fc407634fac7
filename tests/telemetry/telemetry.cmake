# The counters in Prometheus format, read by Prometheus' own parser: scripts/lib.sh names the package, for Debian's own
# Python. Only in the release build.
pb_program(telemetry_image SOURCES ${CMAKE_CURRENT_LIST_DIR}/telemetry_image.c LINKS test_telemetry_sample)
if(NOT PB_SANITIZE)
  pb_test(telemetry_prometheus GROUP tool
    COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/prometheus.py $<TARGET_FILE:telemetry_image> $<TARGET_FILE:patchbay>)
endif()
