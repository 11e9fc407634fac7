# The cost of the host library on the host: scripts/bench runs it.
pb_program(patchbay-host-bench
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/host_bench.c ${CMAKE_CURRENT_LIST_DIR}/host_render.c
  ${CMAKE_CURRENT_LIST_DIR}/host_submit.c ${CMAKE_CURRENT_LIST_DIR}/host_residency.c
  ${CMAKE_CURRENT_LIST_DIR}/host_presume.c
  LINKS pb_scene pb_sim pb_host)
# A plugin of QEMU that counts bus transactions: it has the emulator's functions when the emulator loads it.
add_library(patchbay-bench-probe MODULE EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/probe.c)
set_target_properties(patchbay-bench-probe PROPERTIES PREFIX "" C_STANDARD 11)
# Another, that counts instructions in real time.
add_library(patchbay-bench-count MODULE EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/count.c)
set_target_properties(patchbay-bench-count PROPERTIES PREFIX "" C_STANDARD 11)
# Figures and sizes within their gates: those of one image in CI, all of them in scripts/assure.
if(NOT PB_SANITIZE AND PB_DEVELOP)
  pb_test(bench_quick GROUP bench CPU 200 COST 25 COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/bench --built --check --quick)
  pb_test(sizes GROUP bench COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/sizes --built --check)
endif()
