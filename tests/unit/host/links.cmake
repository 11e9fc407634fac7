# Suites of the links to a card: a socket, a PCI device of a virtual machine, and a debug probe against scripted stubs and against one with a memory.
set(here ${CMAKE_CURRENT_LIST_DIR})
# Their clock goes as the suites say.
add_library(test_link_clock INTERFACE)
target_sources(test_link_clock INTERFACE ${here}/link_clock.c)
target_link_options(test_link_clock INTERFACE LINKER:--wrap=pb_clock_us LINKER:--wrap=nanosleep)
pb_unit_test(test_link_socket RUNNER links SOURCES ${here}/test_link_socket.c LINKS test_link_clock pb_link_socket)
pb_unit_test(test_link_pci RUNNER links SOURCES ${here}/test_link_pci.c LINKS test_link_clock pb_link_pci)
foreach(name packet remote)
  pb_unit_test(test_gdb_${name} RUNNER links SOURCES ${here}/test_gdb_${name}.c LINKS test_link_clock pb_link_gdb)
endforeach()
pb_library(test_gdb_stub SOURCES ${here}/gdb_stub.c LINKS cmocka)
pb_unit_test(test_gdb_memory RUNNER links SOURCES ${here}/test_gdb_memory.c LINKS test_link_clock test_gdb_stub pb_link_gdb)
pb_unit_test(test_link_gdb RUNNER links SOURCES ${here}/test_link_gdb.c LINKS test_link_clock test_gdb_stub pb_probe pb_sim)
