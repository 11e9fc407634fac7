# Tests of paging buffers and of the video memory manager.
pb_unit_test(test_paging SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_paging.c LINKS pb_host)

# The manager on a scripted firmware.
pb_library(test_residency_bench
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/residency_bench.c LINKS test_fake_firmware pb_host cmocka)

foreach(name place split)
  pb_unit_test(test_residency_${name}
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_residency_${name}.c LINKS test_residency_bench)
endforeach()

# On the simulated card.
pb_unit_test(test_residency_sim
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/test_residency_sim.c LINKS test_card_fixture)
