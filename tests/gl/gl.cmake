# What a virgl stream names and reaches: tables, scenarios, and recordings of real programs (recordings/README.txt).
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_gl_bench SOURCES ${here}/gl_bench.c LINKS pb_hal_gl cmocka)
foreach(name commands values stream objects account reach)
  pb_unit_test(test_gl_${name} RUNNER gl_walk SOURCES ${here}/test_gl_${name}.c LINKS test_gl_bench)
endforeach()
pb_unit_test(test_gl_recordings RUNNER gl_recordings SOURCES ${here}/test_gl_recordings.c
  DEFINES GL_RECORDINGS="${here}/recordings" LINKS pb_hal_gl)
