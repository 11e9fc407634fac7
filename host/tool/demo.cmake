# The scene and its painter, which are independent of a card; and the demo.
find_package(PNG REQUIRED)

pb_library(pb_scene
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/scene.c
    ${CMAKE_CURRENT_LIST_DIR}/scene_shapes.c
    ${CMAKE_CURRENT_LIST_DIR}/scene_solids.c
    ${CMAKE_CURRENT_LIST_DIR}/scene_texels.c
    ${CMAKE_CURRENT_LIST_DIR}/painter.c)

pb_library(pb_demo
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/image_png.c
    ${CMAKE_CURRENT_LIST_DIR}/demo.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_card.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_memory.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_commands.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_direct.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_wddm.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_check.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_audit.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_show.c
    ${CMAKE_CURRENT_LIST_DIR}/demo_command.c
  LINKS pb_wddm_os pb_scene pb_trace pb_card_failure pb_host PNG::PNG)
