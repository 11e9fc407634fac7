# The state machines of the firmware core: their tables, and the pictures of them in docs/.
pb_library(test_machines SOURCES ${CMAKE_CURRENT_LIST_DIR}/machines.c)
pb_unit_test(test_firmware_machines
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_machines.c LINKS test_machines)
pb_program(print_machines SOURCES ${CMAKE_CURRENT_LIST_DIR}/print_machines.c LINKS test_machines)
add_test(NAME machine_pictures
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/machines --check $<TARGET_FILE:print_machines>)
