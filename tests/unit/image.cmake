# The header of an image: by the image itself, by the core that refuses it, and by the command.
pb_unit_test(test_image_crc SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_image_crc.c ${PROJECT_SOURCE_DIR}/boards/image.c LINKS z)
pb_unit_test(test_firmware_refuse SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_refuse.c LINKS pb_firmware pb_hal_host)
pb_unit_test(test_firmware_image SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_image.c LINKS pb_firmware_image)
