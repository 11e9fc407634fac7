# Links of Linux processes to a card.
pb_library(pb_link_socket SOURCES ${CMAKE_CURRENT_LIST_DIR}/link_socket.c)
