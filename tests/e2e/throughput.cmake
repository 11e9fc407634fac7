# Throughput, for scripts/bench. Wall time, so no test depends on it.
if(NOT PB_SANITIZE)
  pb_program(patchbay-throughput SOURCES ${CMAKE_CURRENT_LIST_DIR}/throughput.c LINKS pb_host pb_link_socket pb_card)
endif()
