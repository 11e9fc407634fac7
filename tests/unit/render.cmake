# Tests of Render.
pb_library(test_render_bench SOURCES ${CMAKE_CURRENT_LIST_DIR}/render_bench.c LINKS pb_host cmocka)

foreach(name commands inputs outputs present)
  pb_unit_test(test_render_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_render_${name}.c LINKS test_render_bench)
endforeach()

# Render again, with every read of user memory a step that the test sees.
pb_unit_test(test_render_once
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_render_once.c ${CMAKE_CURRENT_LIST_DIR}/render_bench.c
  ${PROJECT_SOURCE_DIR}/host/render.c ${PROJECT_SOURCE_DIR}/host/render_commands.c)
target_compile_options(test_render_once PRIVATE -include ${CMAKE_CURRENT_LIST_DIR}/stepped.h)
target_compile_definitions(test_render_once PRIVATE _GNU_SOURCE)

# Rendered buffers on the simulated card.
pb_library(test_render_world SOURCES ${CMAKE_CURRENT_LIST_DIR}/render_world.c LINKS test_card_fixture)

foreach(name sim random)
  pb_unit_test(test_render_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_render_${name}.c LINKS test_render_bench test_render_world)
endforeach()
