# Tests of the engine model.
pb_library(test_engine_bench
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/engine_bench.c ${CMAKE_CURRENT_LIST_DIR}/engine_stream.c LINKS pb_engine_model)

foreach(name
    ring stop resume preempt defects time packets ranges aperture unmapped translation paging draw raster fuzz)
  pb_unit_test(test_engine_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_engine_${name}.c LINKS test_engine_bench)
endforeach()
pb_unit_test(test_engine_driver
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_engine_driver.c LINKS test_engine_bench pb_hal_engine)
pb_tries(test_engine_fuzz STREAMS 5000u 60000u)
pb_tries(test_engine_preempt CASES 1000u 6000u)
