# The demo's scene and painter.
pb_unit_test(test_painter SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_painter.c LINKS pb_scene)
pb_unit_test(test_scene SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_scene.c LINKS pb_scene)
