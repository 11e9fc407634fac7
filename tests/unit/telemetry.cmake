# Counters of the firmware, as hosts read and show them.
pb_library(test_telemetry_sample SOURCES ${CMAKE_CURRENT_LIST_DIR}/telemetry_sample.c)
pb_unit_test(test_host_telemetry
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_telemetry.c $<TARGET_OBJECTS:pb_host_stepped> LINKS test_telemetry_sample)
target_compile_options(test_host_telemetry PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
# As the others of the stepped library: no second look by clang-tidy.
set_target_properties(test_host_telemetry PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
pb_unit_test(test_stats SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stats.c LINKS test_telemetry_sample pb_stats)
pb_unit_test(test_top_model SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_top_model.c LINKS pb_top)
pb_unit_test(test_top_view SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_top_view.c LINKS pb_top)
foreach(name top_survey top_card)
  pb_unit_test(test_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_card_fixture pb_top)
endforeach()
