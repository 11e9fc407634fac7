# Suites of the boot loader and of the updater, over a model of the flash. Those that verify signatures need BearSSL.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_unit_test(test_loader_slots RUNNER loader_slots SOURCES ${here}/test_loader_slots.c LINKS pb_flash_model)
# A build of suites for a board has the names in any case: left_out.txt has them.
if(PB_LOADER OR PB_BOARD)
  pb_library(test_loader_bench SOURCES ${here}/loader_bench.c LINKS pb_loader pb_flash_model)
  foreach(name choose power tamper update)
    pb_unit_test(test_loader_${name} RUNNER loader SOURCES ${here}/test_loader_${name}.c LINKS test_loader_bench)
  endforeach()
  pb_tries(test_loader_power POWER_TEARS 3u 12u)
  pb_tries(test_loader_power POWER_STRIDE 6u 1u)
endif()
