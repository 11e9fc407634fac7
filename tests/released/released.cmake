# Released libraries and firmwares beside those of this tree.
if(NOT PB_SANITIZE AND NOT PB_BOARD)
  set(matrix bash ${CMAKE_CURRENT_LIST_DIR}/matrix.sh ${PROJECT_BINARY_DIR})
  pb_test(released_pairs GROUP install COMMAND ${matrix})
  pb_test(released_pairs_all GROUP install ASSURE COMMAND ${matrix} --all)
endif()
