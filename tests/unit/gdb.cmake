# The link over a debug probe: against scripted stubs, and one with a memory.
foreach(name packet remote)
  pb_unit_test(test_gdb_${name} SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_gdb_${name}.c LINKS pb_link_gdb)
endforeach()
pb_library(test_gdb_stub SOURCES ${CMAKE_CURRENT_LIST_DIR}/gdb_stub.c LINKS cmocka)
pb_unit_test(test_gdb_memory SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_gdb_memory.c LINKS test_gdb_stub pb_link_gdb)
pb_unit_test(test_link_gdb SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_link_gdb.c LINKS test_gdb_stub pb_probe pb_sim)
