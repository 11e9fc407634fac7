# What a virgl stream names and reaches: tables and scenarios.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_gl_bench SOURCES ${here}/gl_bench.c LINKS pb_hal_gl cmocka)
foreach(name commands values stream objects account reach)
  pb_unit_test(test_gl_${name} RUNNER gl_walk SOURCES ${here}/test_gl_${name}.c LINKS test_gl_bench)
endforeach()
