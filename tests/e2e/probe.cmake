# The card's MCU behind a gdb stub: as e2e.cmake.
if(NOT PB_SANITIZE)
  pb_program(e2e_probe SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_probe.c LINKS test_e2e_support pb_link_gdb cjson)
  add_dependencies(e2e_probe patchbay)
  add_test(NAME e2e_probe COMMAND e2e_probe)
  # The session of docs/debugging.md.
  add_test(NAME e2e_debug_session COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/debug_session.sh)
  set_tests_properties(e2e_probe e2e_debug_session PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
endif()
