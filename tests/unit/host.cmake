# Tests of the host library against a scripted firmware.
pb_library(test_fake_firmware
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/fake_firmware.c ${CMAKE_CURRENT_LIST_DIR}/fake_schedule.c
  LINKS pb_host)

foreach(name card attach command segment queue fence format
             begin stop unfinished query watch)
  pb_unit_test(test_host_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_${name}.c LINKS test_fake_firmware pb_host)
endforeach()

# What needs no firmware at all.
pb_library(test_peer_kernels SOURCES ${CMAKE_CURRENT_LIST_DIR}/peer_kernels.c LINKS pb_host)
pb_unit_test(test_host_compact SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_compact.c LINKS pb_host)
pb_unit_test(test_host_lift SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_lift.c LINKS test_peer_kernels)
foreach(name lift_sim peer_formats)
  pb_unit_test(test_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_peer_kernels test_card_fixture)
endforeach()

# The library again, with every access to card memory a step that the test sees.
get_target_property(host_sources pb_host SOURCES)
add_library(pb_host_stepped OBJECT ${host_sources})
pb_configure(pb_host_stepped)
target_compile_options(pb_host_stepped PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
foreach(name steps garbage)
  pb_unit_test(test_host_${name} SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/test_host_${name}.c ${CMAKE_CURRENT_LIST_DIR}/fake_firmware.c
    ${CMAKE_CURRENT_LIST_DIR}/fake_schedule.c $<TARGET_OBJECTS:pb_host_stepped>)
  target_compile_options(test_host_${name} PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
endforeach()
# The same with a firmware that the test does not step: what the library reads, counted.
pb_unit_test(test_host_once SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_once.c $<TARGET_OBJECTS:pb_host_stepped>
  LINKS test_fake_firmware)
target_compile_options(test_host_once PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
set_target_properties(pb_host_stepped PROPERTIES EXCLUDE_FROM_ALL TRUE)
# Else clang-tidy looks at the same sources once more for each of them.
set_target_properties(pb_host_stepped test_host_steps test_host_garbage test_host_once PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
