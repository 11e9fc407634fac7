# The runner of the suites is itself tested.
if(PB_BOARD)
  return()
endif()
pb_program(sample_runner SOURCES ${CMAKE_CURRENT_LIST_DIR}/sample_suites.c LINKS test_runner cmocka)
pb_test(sample_runner GROUP unit COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/runner.sh $<TARGET_FILE:sample_runner>)
pb_quick(sample_runner bash ${CMAKE_CURRENT_LIST_DIR}/runner.sh $<TARGET_FILE:sample_runner>
  DEPENDS sample_runner ${CMAKE_CURRENT_LIST_DIR}/runner.sh)
