# The card's MCU behind a gdb stub, on a board whose card memory exists at reset.
pb_e2e_test(probe LINKS pb_link_gdb BOARDS mps2_an500)
# The session of docs/debugging.md.
if(NOT PB_SANITIZE)
  pb_test(e2e_debug_session GROUP e2e COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/debug_session.sh)
endif()
