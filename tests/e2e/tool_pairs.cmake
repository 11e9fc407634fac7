# Several commands on one emulated card; and a card that dies under them.
if(NOT PB_SANITIZE)
  pb_program(e2e_tool_pairs SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_tool_pairs.c LINKS test_e2e_support test_subm_writer)
  add_dependencies(e2e_tool_pairs patchbay)
  add_test(NAME e2e_tool_pairs COMMAND e2e_tool_pairs)
  # As the other end-to-end tests.
  set_tests_properties(e2e_tool_pairs PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
endif()
