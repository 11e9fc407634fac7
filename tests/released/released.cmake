# Released libraries and firmwares beside those of this tree.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  add_test(NAME released_pairs COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/matrix.sh ${PROJECT_BINARY_DIR})
  set_tests_properties(released_pairs PROPERTIES TIMEOUT 900 RESOURCE_LOCK card)
endif()
