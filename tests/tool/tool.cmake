# The patchbay command as a program, on cards in its own process. Once is enough, with sanitizers: 53 s of a processor.
if(PB_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  add_test(NAME tool_full COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/full.sh $<TARGET_FILE:patchbay>
    ${PROJECT_SOURCE_DIR}/tests/data)
  # Not one of the quick tests, which build no command.
  set_tests_properties(tool_full PROPERTIES LABELS long)
endif()
