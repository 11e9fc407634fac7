# Sealed images, and flashing without a board: the real tools, and a bootloader on a pseudo-terminal.
if(NOT PB_SANITIZE)
  pb_program(test_flash_bootloader SOURCES ${CMAKE_CURRENT_LIST_DIR}/bootloader.c)
  pb_test(flash GROUP e2e COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/flash.sh $<TARGET_FILE:test_flash_bootloader>)
  pb_test(seal GROUP e2e COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/seal.sh $<TARGET_FILE:patchbay>)
endif()
