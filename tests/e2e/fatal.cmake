# Firmware that stops with a fatal record, or hangs, in QEMU: needs the support library of e2e.cmake, and like it no sanitizer.
if(NOT PB_SANITIZE)
  foreach(name fatal hang)
    pb_program(e2e_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_e2e_support)
    add_dependencies(e2e_${name} patchbay)
    add_test(NAME e2e_${name} COMMAND e2e_${name})
    set_tests_properties(e2e_${name} PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
  endforeach()
endif()
