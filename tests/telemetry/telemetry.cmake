# What is made of counters for Prometheus, by its own parser: scripts/lib.sh has the package, which Debian's own Python
# finds. Once, as released.
pb_program(telemetry_image SOURCES ${CMAKE_CURRENT_LIST_DIR}/telemetry_image.c LINKS test_telemetry_sample)
if(NOT PB_SANITIZE)
  add_test(NAME telemetry_prometheus
    COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/prometheus.py $<TARGET_FILE:telemetry_image> $<TARGET_FILE:patchbay>)
  set_tests_properties(telemetry_prometheus PROPERTIES TIMEOUT 120)
endif()
