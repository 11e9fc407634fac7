# The core and the engine's driver once more, with each access to card memory a step at which the test acts.
set(here ${CMAKE_CURRENT_LIST_DIR})
set(stepped_header ${PROJECT_SOURCE_DIR}/tests/unit/stepped.h)
get_target_property(firmware_folder pb_firmware SOURCE_DIR)
get_target_property(firmware_sources pb_firmware SOURCES)
list(TRANSFORM firmware_sources PREPEND ${firmware_folder}/)
add_library(pb_firmware_stepped OBJECT ${firmware_sources}
  ${PROJECT_SOURCE_DIR}/hal/engine/reference.c ${PROJECT_SOURCE_DIR}/hal/engine/reference_memory.c)
pb_configure(pb_firmware_stepped)
target_compile_options(pb_firmware_stepped PRIVATE -include ${stepped_header})
# Else clang-tidy checks these sources twice.
set_target_properties(pb_firmware_stepped PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
# Each suite has its own program, for each says itself what a step does. Words that a host can write are read once in an
# operation: `reads` changes them after the first read, `once` counts reads; `slices` changes them within short slices;
# `digest` moves an allocation behind its digest; `reuse` has a line wait at any time; `rotation`, `rotation_nodes` and
# `settle` raise lines at each check.
foreach(name digest reads slices once reuse rotation rotation_nodes settle)
  set(more)
  if(name STREQUAL once)
    set(more ${here}/once.c)
  elseif(name MATCHES rotation)
    set(more ${here}/flood.c)
  endif()
  pb_unit_test(test_firmware_${name}
    SOURCES ${here}/test_firmware_${name}.c ${more} $<TARGET_OBJECTS:pb_firmware_stepped>
    LINKS test_card_fixture pb_sim pb_host OPTIONS -include ${stepped_header})
  set_property(GLOBAL PROPERTY PB_NOT_QUICK_test_firmware_${name} ON) # the inner loop has no stepped core
endforeach()
