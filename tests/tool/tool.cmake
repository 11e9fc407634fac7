# The patchbay command as a program, on cards in its own process. Once is enough, with sanitizers: 53 s of a processor.
if(PB_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL GNU)
  pb_test(tool_full GROUP tool COST 20 COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/full.sh $<TARGET_FILE:patchbay>
    ${PROJECT_SOURCE_DIR}/tests/data)
endif()
