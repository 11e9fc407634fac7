# What dead firmware leaves behind: written, read, and put into words.
pb_unit_test(test_firmware_crash SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_firmware_crash.c LINKS test_card_fixture pb_sim pb_host)
pb_unit_test(test_host_crash SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_host_crash.c LINKS test_fake_firmware)
pb_unit_test(test_crash_report SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_crash_report.c LINKS pb_crash)
