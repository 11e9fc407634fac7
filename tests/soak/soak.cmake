# Kills at random, short here; scripts/soak runs the same program for minutes.
set(soak ${CMAKE_CURRENT_LIST_DIR})
pb_e2e_test(soak BOARDS mps2_an500
  SOURCES ${soak}/cast.c ${soak}/client.c ${soak}/work.c ${soak}/usage.c ${CMAKE_CURRENT_SOURCE_DIR}/e2e/e2e_victim.c)
pb_unit_test(test_soak_usage SOURCES ${soak}/test_soak_usage.c ${soak}/usage.c)
