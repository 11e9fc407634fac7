# Tests of the emulated card around a stand-in for its MCU, and of the link to it.
pb_program(test_fake_mcu SOURCES ${CMAKE_CURRENT_LIST_DIR}/fake_mcu.c)
pb_library(test_raw_host SOURCES ${CMAKE_CURRENT_LIST_DIR}/raw_host.c)

pb_unit_test(test_card_admin SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_admin.c LINKS pb_card_admin)
pb_unit_test(test_card_clock SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_clock.c LINKS pb_card)
pb_unit_test(test_card_lines SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_lines.c LINKS pb_card)
pb_unit_test(test_card_engines SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_engines.c LINKS pb_card)
pb_unit_test(test_card_machines SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_machines.c LINKS pb_card)
pb_unit_test(test_link_socket
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_link_socket.c LINKS pb_link_socket)
foreach(name server supervisor hang)
  pb_unit_test(test_card_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_${name}.c ${CMAKE_CURRENT_LIST_DIR}/card_bench.c
    LINKS pb_card pb_link_socket test_raw_host)
  add_dependencies(test_card_${name} test_fake_mcu)
  target_compile_definitions(test_card_${name} PRIVATE FAKE_MCU="$<TARGET_FILE:test_fake_mcu>")
endforeach()
