# Tests of `patchbay replay`: its reader, its oracle, and the samples through the simulated card.
pb_library(test_subm_writer SOURCES ${CMAKE_CURRENT_LIST_DIR}/subm_writer.c LINKS cmocka zstd)

pb_unit_test(test_subm SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_subm.c LINKS test_subm_writer pb_subm)
pb_unit_test(test_placement SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_placement.c LINKS pb_subm)
pb_unit_test(test_replay_nouveau
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_replay_nouveau.c LINKS test_subm_writer pb_replay)
pb_unit_test(test_replay_job SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_replay_job.c LINKS pb_replay)
pb_unit_test(test_replay_sim
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_replay_sim.c LINKS test_subm_writer pb_replay pb_sim)
pb_unit_test(test_replay_needs
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_replay_needs.c LINKS test_subm_writer pb_replay pb_sim)

foreach(test test_subm test_replay_sim test_replay_needs)
  target_compile_definitions(${test} PRIVATE PB_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
endforeach()
