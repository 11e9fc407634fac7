# The live view in a terminal, by a terminal emulator: scripts/lib.sh names the package, for Debian's own Python.
# The view does not depend on the board.
if(NOT PB_SANITIZE)
  add_test(NAME mps2_an500_e2e_top COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/top.py $<TARGET_FILE:patchbay>)
  set_tests_properties(mps2_an500_e2e_top PROPERTIES LABELS e2e RESOURCE_LOCK card COST 500 TIMEOUT 240)
endif()
