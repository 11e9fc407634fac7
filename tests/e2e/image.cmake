# Damaged images, and images as files.
pb_e2e_test(bad_image LINKS z)
pb_e2e_test(image)
# Images as they lie in the MCU's memory.
if(NOT PB_SANITIZE)
  target_compile_definitions(test_e2e_support PRIVATE E2E_SEAL="${PROJECT_SOURCE_DIR}/scripts/seal")
  # Every board. A board without a QEMU machine is skipped.
  pb_program(e2e_read_back SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_read_back.c LINKS test_e2e_support)
  file(GLOB boards CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/boards/*/board.cmake)
  foreach(file IN LISTS boards)
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET folder FILENAME board)
    pb_test(e2e_read_back_${board} GROUP e2e SKIPS COMMAND e2e_read_back ${board})
  endforeach()
endif()
