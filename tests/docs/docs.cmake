# The commands on the pages.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  add_test(NAME docs_manual COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/manual.sh $<TARGET_FILE:patchbay>)
  add_test(NAME docs_commands COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/commands.sh ${PROJECT_BINARY_DIR})
endif()
