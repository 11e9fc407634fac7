# The header of an image, as the image itself checks it.
pb_unit_test(test_image_crc RUNNER hal
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_image_crc.c ${PROJECT_SOURCE_DIR}/boards/image.c LINKS z)
