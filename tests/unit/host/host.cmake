# Suites of the host library: against a scripted firmware, or without any.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_library(test_peer_kernels SOURCES ${here}/peer_kernels.c LINKS pb_host)

foreach(name card attach command segment queue fence format begin stop unfinished query watch crash)
  pb_unit_test(test_host_${name} RUNNER host SOURCES ${here}/test_host_${name}.c LINKS test_fake_firmware pb_host)
endforeach()
pb_unit_test(test_host_compact RUNNER host SOURCES ${here}/test_host_compact.c LINKS pb_host)
pb_unit_test(test_host_trace RUNNER host SOURCES ${here}/test_host_trace.c LINKS pb_host)
pb_unit_test(test_host_ring RUNNER host SOURCES ${here}/test_host_ring.c LINKS pb_host)
pb_unit_test(test_host_lift RUNNER host SOURCES ${here}/test_host_lift.c LINKS test_peer_kernels)
pb_unit_test(test_paging RUNNER host SOURCES ${here}/test_paging.c LINKS pb_host)

# The video memory manager.
pb_library(test_residency_bench SOURCES ${here}/residency_bench.c LINKS test_fake_firmware pb_host cmocka)
foreach(name place split bindings)
  pb_unit_test(test_residency_${name} RUNNER host SOURCES ${here}/test_residency_${name}.c LINKS test_residency_bench)
endforeach()

pb_unit_test(test_residency_room RUNNER host SOURCES ${here}/test_residency_room.c LINKS pb_host)

# Render.
pb_library(test_render_bench SOURCES ${here}/render_bench.c LINKS pb_host cmocka)
foreach(name commands inputs outputs present)
  pb_unit_test(test_render_${name} RUNNER host SOURCES ${here}/test_render_${name}.c LINKS test_render_bench)
endforeach()

# On the simulated card.
pb_library(test_render_world SOURCES ${here}/render_world.c LINKS test_card_fixture)
foreach(name sim random)
  pb_unit_test(test_render_${name} RUNNER host_sim
    SOURCES ${here}/test_render_${name}.c LINKS test_render_bench test_render_world)
endforeach()
pb_unit_test(test_residency_sim RUNNER host_sim SOURCES ${here}/test_residency_sim.c LINKS test_card_fixture)
pb_library(test_presumed_world SOURCES ${here}/presumed_world.c LINKS test_card_fixture)
foreach(name presumed record)
  pb_unit_test(test_residency_${name} RUNNER host_sim
    SOURCES ${here}/test_residency_${name}.c LINKS test_presumed_world)
endforeach()
pb_unit_test(test_lift_sim RUNNER host_sim SOURCES ${here}/test_lift_sim.c LINKS test_peer_kernels test_card_fixture)
