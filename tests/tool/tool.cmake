# The patchbay command as a program, on cards in its own process.
add_test(NAME tool_full COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/full.sh $<TARGET_FILE:patchbay>
  ${PROJECT_SOURCE_DIR}/tests/data)
# Not one of the quick tests, which build no command.
set_tests_properties(tool_full PROPERTIES LABELS long)
