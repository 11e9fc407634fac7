# What a host notes of its submissions, joined with the trace of its card: every wait begins at its own put.
if(NOT PB_SANITIZE)
  pb_program(host_burst SOURCES ${CMAKE_CURRENT_LIST_DIR}/host_burst.c LINKS test_e2e_support)
  pb_test(mps2_an500_e2e_host_lane GROUP e2e COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/host_lane.py
    $<TARGET_FILE:patchbay> $<TARGET_FILE:host_burst>)
endif()
