# What the commands have in common.
pb_unit_test(test_card_failure SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_card_failure.c LINKS pb_card_failure)

# The answer of `patchbay why`.
pb_unit_test(test_why SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_why.c LINKS pb_why test_fake_firmware pb_host)
