# The demo on the simulated card, with patching and without.
if(TARGET pb_demo AND TARGET pb_sim)
  pb_unit_test(test_demo_sim SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_demo_sim.c LINKS pb_demo pb_sim)
endif()
