# Random kills, a short run here; scripts/soak runs the same program for minutes.
set(soak ${CMAKE_CURRENT_LIST_DIR})
pb_e2e_test(soak BOARDS mps2_an500
  SOURCES ${soak}/cast.c ${soak}/client.c ${soak}/rounds.c ${soak}/usage.c ${CMAKE_CURRENT_SOURCE_DIR}/e2e/e2e_victim.c)
pb_unit_test(test_soak_usage RUNNER tool SOURCES ${soak}/test_soak_usage.c ${soak}/usage.c)
