# Suites of the drivers and of the engine model.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_engine_bench SOURCES ${here}/engine_bench.c ${here}/engine_stream.c LINKS pb_engine_model)

foreach(name
    ring stop resume preempt defects time packets ranges aperture unmapped translation paging draw raster fuzz)
  pb_unit_test(test_engine_${name} RUNNER hal SOURCES ${here}/test_engine_${name}.c LINKS test_engine_bench)
endforeach()
pb_library(test_engine_gl_bench SOURCES ${here}/gl_bench.c LINKS test_engine_bench pb_engine_gl)
foreach(name gl gl_time)
  pb_unit_test(test_engine_${name} RUNNER hal SOURCES ${here}/test_engine_${name}.c LINKS test_engine_gl_bench)
endforeach()
pb_unit_test(test_engine_driver RUNNER hal SOURCES ${here}/test_engine_driver.c LINKS test_engine_bench pb_hal_engine)
pb_unit_test(test_clear_unit RUNNER hal SOURCES ${here}/test_clear_unit.c LINKS pb_hal_engine_model pb_hal_engine)
pb_tries(test_engine_fuzz STREAMS 5000u 60000u)
pb_tries(test_engine_preempt CASES 1000u 6000u)
pb_unit_test(test_soft_engine RUNNER hal SOURCES ${here}/test_soft_engine.c LINKS pb_hal_soft_engine pb_hal_engine)
pb_unit_test(test_card_admin RUNNER hal SOURCES ${here}/test_card_admin.c LINKS pb_hal_card_admin)
# The protection unit of Arm M-profile, of both architectures, on registers of the test. Addresses are 32 bits wide.
foreach(architecture 7 8)
  pb_unit_test(test_cortex_m_protect_v${architecture} SUITE test_cortex_m_protect
    SOURCES ${here}/test_cortex_m_protect.c ${PROJECT_SOURCE_DIR}/hal/cortex_m/protect.c
    OPTIONS -include ${here}/fake_cortex_m.h -fno-pie DEFINES __ARM_ARCH=${architecture} LINKS -no-pie)
endforeach()
