# The demo on the simulated card, with patching and without.
pb_unit_test(test_demo_sim RUNNER tool_sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_demo_sim.c LINKS pb_demo pb_sim)
