# The board that is its own card, in QEMU, without the emulated card. No sanitizers, as in all tests that start QEMU.
if(NOT PB_SANITIZE)
  pb_program(e2e_stm32f405 SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stm32f405.c ${CMAKE_CURRENT_LIST_DIR}/probe.c LINKS test_e2e_support z)
  target_compile_definitions(e2e_stm32f405 PRIVATE
    E2E_STM32F405="${PROJECT_BINARY_DIR}/../stm32f405/patchbay-stm32f405.bin")
  pb_test(e2e_stm32f405 GROUP e2e COMMAND e2e_stm32f405)
  # The commands, over a link to a debug probe.
  pb_program(e2e_stm32f405_link SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_stm32f405_link.c LINKS test_e2e_support)
  target_compile_definitions(e2e_stm32f405_link PRIVATE
    E2E_STM32F405="${PROJECT_BINARY_DIR}/../stm32f405/patchbay-stm32f405.bin")
  add_dependencies(e2e_stm32f405_link patchbay)
  pb_test(e2e_stm32f405_link GROUP e2e COMMAND e2e_stm32f405_link)
  pb_test(e2e_stm32f405_sizes GROUP e2e COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/stm32f405_sizes.sh)
endif()
