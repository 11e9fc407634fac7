pb_unit_test(test_soft_engine SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_soft_engine.c LINKS pb_hal_soft_engine pb_hal_engine)
