# The board: PB_BOARD names a folder of boards/, or PB_BOARD_DIR is a folder elsewhere. Sets the other one of them, and reads
# its board.cmake. PB_BOARD_ELSEWHERE: whether its folder is not one of boards/.
set(PB_BOARD_ELSEWHERE OFF)
# The toolchain file reads this again, when both are set.
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH boards)
if(PB_BOARD_DIR AND NOT PB_BOARD_DIR STREQUAL "${boards}/${PB_BOARD}")
  string(REGEX REPLACE "/+$" "" PB_BOARD_DIR "${PB_BOARD_DIR}")
  cmake_path(GET PB_BOARD_DIR FILENAME PB_BOARD)
  set(PB_BOARD_ELSEWHERE ON)
elseif(PB_BOARD)
  set(PB_BOARD_DIR ${boards}/${PB_BOARD})
endif()
if(PB_BOARD)
  include(${PB_BOARD_DIR}/board.cmake)
endif()
