# Suites of the emulated card, around a program that stands for its MCU.
set(here ${CMAKE_CURRENT_LIST_DIR})
pb_program(test_fake_mcu SOURCES ${here}/fake_mcu.c)
pb_library(test_raw_host SOURCES ${here}/raw_host.c)

add_library(test_card_wall INTERFACE)
target_link_options(test_card_wall INTERFACE LINKER:--wrap=pb_card_wall_us)
foreach(name clock lines engines machines update)
  pb_unit_test(test_card_${name} RUNNER qemu SOURCES ${here}/test_card_${name}.c LINKS pb_card)
endforeach()
foreach(name server supervisor hang observers)
  pb_unit_test(test_card_${name} RUNNER qemu
    SOURCES ${here}/test_card_${name}.c ${here}/card_bench.c LINKS pb_card test_card_wall test_link_clock pb_link_socket pb_host test_raw_host
    DEFINES FAKE_MCU="$<TARGET_FILE:test_fake_mcu>" NEEDS test_fake_mcu)
endforeach()
# GL engines that draw nothing, under the firmware in this process.
pb_unit_test(test_gl_sim RUNNER gl_sim SOURCES ${here}/test_gl_sim.c LINKS pb_sim pb_host pb_dma_builder)
pb_tries(test_gl_sim SCHEDULES 30u 400u)
pb_program(test_fake_renderer SOURCES ${here}/fake_renderer.c)
pb_unit_test(test_renderers RUNNER renderers SOURCES ${here}/test_renderers.c LINKS pb_card
  DEFINES FAKE_RENDERER="$<TARGET_FILE:test_fake_renderer>" NEEDS test_fake_renderer)
