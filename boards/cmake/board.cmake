# The board: PB_BOARD names a folder of boards/, or PB_BOARD_DIR is a folder elsewhere. Sets the other one of them, and reads
# its board.cmake. PB_BOARD_ELSEWHERE: whether its folder is not one of boards/.
set(PB_BOARD_ELSEWHERE OFF)
if(PB_BOARD_DIR)
  string(REGEX REPLACE "/+$" "" PB_BOARD_DIR "${PB_BOARD_DIR}")
  cmake_path(GET PB_BOARD_DIR FILENAME PB_BOARD)
  set(PB_BOARD_ELSEWHERE ON)
elseif(PB_BOARD)
  cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH PB_BOARD_DIR)
  cmake_path(APPEND PB_BOARD_DIR ${PB_BOARD})
endif()
if(PB_BOARD)
  include(${PB_BOARD_DIR}/board.cmake)
endif()
