# The live view in a terminal, by a terminal emulator: scripts/lib.sh names the package, for Debian's own Python.
# The view does not depend on the board.
if(NOT PB_SANITIZE)
  pb_test(mps2_an500_e2e_top GROUP e2e COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/top.py $<TARGET_FILE:patchbay>)
endif()
