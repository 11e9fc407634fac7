# Suites of the links to a card: a socket, and a debug probe against scripted stubs and against one with a memory.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_unit_test(test_link_socket RUNNER links SOURCES ${here}/test_link_socket.c LINKS pb_link_socket)
foreach(name packet remote)
  pb_unit_test(test_gdb_${name} RUNNER links SOURCES ${here}/test_gdb_${name}.c LINKS pb_link_gdb)
endforeach()
pb_library(test_gdb_stub SOURCES ${here}/gdb_stub.c LINKS cmocka)
pb_unit_test(test_gdb_memory RUNNER links SOURCES ${here}/test_gdb_memory.c LINKS test_gdb_stub pb_link_gdb)
pb_unit_test(test_link_gdb RUNNER links SOURCES ${here}/test_link_gdb.c LINKS test_gdb_stub pb_probe pb_sim)
