# Sealed images, and flashing without a board: the real tools, and a bootloader on a pseudo-terminal.
if(NOT PB_SANITIZE)
  pb_program(test_flash_bootloader SOURCES ${CMAKE_CURRENT_LIST_DIR}/bootloader.c)
  add_test(NAME flash COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/flash.sh $<TARGET_FILE:test_flash_bootloader>)
  add_test(NAME seal COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/seal.sh $<TARGET_FILE:patchbay>)
  # scripts/flash builds the command if needed.
  set_tests_properties(flash PROPERTIES LABELS e2e RESOURCE_LOCK card TIMEOUT 120)
endif()
