# The front end of OpenGL programs: what a kernel driver can use. No OS, no heap.
pb_library(pb_gl SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/batch.c
  ${CMAKE_CURRENT_LIST_DIR}/binding.c
  ${CMAKE_CURRENT_LIST_DIR}/client.c
  ${CMAKE_CURRENT_LIST_DIR}/client_ahead.c
  ${CMAKE_CURRENT_LIST_DIR}/client_stream.c
  ${CMAKE_CURRENT_LIST_DIR}/client_transfer.c
  ${CMAKE_CURRENT_LIST_DIR}/formats.c
  ${CMAKE_CURRENT_LIST_DIR}/resources.c
  ${CMAKE_CURRENT_LIST_DIR}/transfer.c
  ${CMAKE_CURRENT_LIST_DIR}/vtest.c
  LINKS pb_hal_gl pb_host)
