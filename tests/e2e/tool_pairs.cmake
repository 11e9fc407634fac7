# The command at its limits; several on one emulated card; and a card that dies under them.
if(NOT PB_SANITIZE)
  foreach(name tool_pairs replay_large)
    pb_program(e2e_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_${name}.c LINKS test_e2e_support test_subm_writer)
    add_dependencies(e2e_${name} patchbay)
    add_test(NAME e2e_${name} COMMAND e2e_${name})
    # As the other end-to-end tests.
    set_tests_properties(e2e_${name} PROPERTIES LABELS e2e RUN_SERIAL TRUE TIMEOUT 120)
  endforeach()
endif()
