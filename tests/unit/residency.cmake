# Tests of paging buffers and of the video memory manager.
pb_unit_test(test_paging SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_paging.c LINKS pb_host)
