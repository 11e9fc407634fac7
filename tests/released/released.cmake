# Released libraries and firmwares beside those of this tree.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  pb_test(released_pairs GROUP install ASSURE COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/matrix.sh ${PROJECT_BINARY_DIR})
endif()
