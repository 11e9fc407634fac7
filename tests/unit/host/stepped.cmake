# The host library once more, with each access to card memory a step at which the test acts. Each suite has its own
# program, for each says itself what a step does.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(unit ${PROJECT_SOURCE_DIR}/tests/unit)
set(stepped OPTIONS -include ${unit}/stepped.h)
get_target_property(host_sources pb_host SOURCES)
add_library(pb_host_stepped OBJECT ${host_sources})
pb_configure(pb_host_stepped)
target_compile_options(pb_host_stepped PRIVATE -include ${unit}/stepped.h)
# The scripted firmware is stepped too.
foreach(name steps garbage)
  pb_unit_test(test_host_${name} SOURCES
    ${here}/test_host_${name}.c ${unit}/fake_firmware.c ${unit}/fake_schedule.c $<TARGET_OBJECTS:pb_host_stepped>
    ${stepped})
endforeach()
# The scripted firmware is not stepped: reads of the library are counted.
pb_unit_test(test_host_once SOURCES ${here}/test_host_once.c $<TARGET_OBJECTS:pb_host_stepped>
  LINKS test_fake_firmware ${stepped})
# The firmware's stores of its counter are recorded.
pb_unit_test(test_host_patches
  SOURCES ${here}/test_host_patches.c ${PROJECT_SOURCE_DIR}/firmware/queue/ring.c $<TARGET_OBJECTS:pb_host_stepped>
  LINKS test_fake_firmware ${stepped})
pb_unit_test(test_host_telemetry SOURCES ${here}/test_host_telemetry.c $<TARGET_OBJECTS:pb_host_stepped>
  LINKS test_telemetry_sample ${stepped})
set_target_properties(pb_host_stepped PROPERTIES EXCLUDE_FROM_ALL TRUE)
# Else clang-tidy checks these sources once more for each suite.
set_target_properties(pb_host_stepped PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
# Render once more, with each read of user memory a step.
pb_unit_test(test_render_once
  SOURCES ${here}/test_render_once.c ${here}/render_bench.c
  ${PROJECT_SOURCE_DIR}/host/render.c ${PROJECT_SOURCE_DIR}/host/render_commands.c
  ${PROJECT_SOURCE_DIR}/host/render_blit.c
  DEFINES _GNU_SOURCE ${stepped})
