# The demo's scene, painter and DMA buffer builder.
pb_unit_test(test_painter SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_painter.c LINKS pb_scene)
pb_unit_test(test_scene SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_scene.c LINKS pb_scene)
pb_unit_test(test_dma_builder SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_dma_builder.c LINKS pb_dma_builder)
