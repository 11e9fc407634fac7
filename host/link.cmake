# Links of Linux processes to a card.
pb_library(pb_link_system SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_system.c
  ${CMAKE_CURRENT_LIST_DIR}/link_trace.c LINKS pb_host)
pb_library(pb_link_socket SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/link_message.c
  ${CMAKE_CURRENT_LIST_DIR}/link_observer.c
  ${CMAKE_CURRENT_LIST_DIR}/link_socket.c
  LINKS pb_link_system)
pb_library(pb_link_pci SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/link_open.c
  ${CMAKE_CURRENT_LIST_DIR}/link_pci.c
  ${CMAKE_CURRENT_LIST_DIR}/link_vfio.c
  LINKS pb_link_system pb_link_socket)
pb_library(pb_link_gdb SOURCES
  ${CMAKE_CURRENT_LIST_DIR}/link_gdb.c
  ${CMAKE_CURRENT_LIST_DIR}/link_gdb_memory.c
  ${CMAKE_CURRENT_LIST_DIR}/link_gdb_remote.c
  ${CMAKE_CURRENT_LIST_DIR}/link_gdb_flash.c
  ${CMAKE_CURRENT_LIST_DIR}/link_gdb_packet.c
  LINKS pb_link_system)
