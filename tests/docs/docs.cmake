# The commands on the pages.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  pb_test(docs_manual GROUP style COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/manual.sh $<TARGET_FILE:patchbay>)
  pb_test(docs_commands GROUP install COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/commands.sh ${PROJECT_BINARY_DIR})
endif()
