# Firmware that stops with a fatal record, in QEMU: needs the support library of e2e.cmake, and like it no sanitizer.
if(NOT PB_SANITIZE)
  pb_program(e2e_fatal SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_fatal.c LINKS test_e2e_support)
  add_dependencies(e2e_fatal patchbay)
  add_test(NAME e2e_fatal COMMAND e2e_fatal)
  set_tests_properties(e2e_fatal PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
endif()
