# The bench image of a board that has tests/bench/BOARD.c: core, drivers and host library in one program. As all images of
# tests/bench it is built only on request: scripts/bench --build.
set(bench_board ${PROJECT_SOURCE_DIR}/tests/bench/${PB_BOARD}.c)
set(bench_cmsdk)
if(boards/cmsdk.c IN_LIST PB_BOARD_SOURCES)
  set(bench_cmsdk ${PROJECT_SOURCE_DIR}/tests/bench/cmsdk.c)
endif()
set(loops_board ${PROJECT_SOURCE_DIR}/tests/bench/loops_${PB_BOARD}.c)
if(EXISTS ${bench_board} OR EXISTS ${loops_board})
  pb_library(pb_bench_host SOURCES
    ${PROJECT_SOURCE_DIR}/host/card.c ${PROJECT_SOURCE_DIR}/host/channel.c ${PROJECT_SOURCE_DIR}/host/command.c
    ${PROJECT_SOURCE_DIR}/host/host_trace.c ${PROJECT_SOURCE_DIR}/host/names.c ${PROJECT_SOURCE_DIR}/host/queue.c ${PROJECT_SOURCE_DIR}/host/segment.c)
  set_target_properties(pb_bench_host PROPERTIES EXCLUDE_FROM_ALL TRUE)
  set(bench_print
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_print.c ${PROJECT_SOURCE_DIR}/tests/target/semihost.c
    ${PROJECT_SOURCE_DIR}/tests/target/semihost_${CMAKE_SYSTEM_PROCESSOR}.c)
endif()
if(EXISTS ${bench_board})
  set(bench_card
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_card.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_empty.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_spans.c ${bench_print} ${bench_board} ${bench_cmsdk})
  pb_image(patchbay-bench-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_clients.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_delay.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_fixed.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_host.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_lists.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_patch.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_queues.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_saturated.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_schedule.c
    ${bench_card} LINKS pb_bench_host)
  target_link_options(patchbay-bench-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(patchbay-bench-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  # The core files on the path of a submission, compiled again without a trace. The others are the product's.
  pb_library(pb_bench_untraced SOURCES
    ${PROJECT_SOURCE_DIR}/firmware/prepare/admit.c ${PROJECT_SOURCE_DIR}/firmware/command/doorbell.c ${PROJECT_SOURCE_DIR}/firmware/engine/feed.c
    ${PROJECT_SOURCE_DIR}/firmware/loop.c ${PROJECT_SOURCE_DIR}/firmware/engine/retire.c ${PROJECT_SOURCE_DIR}/firmware/queue/schedule.c)
  target_compile_options(pb_bench_untraced PRIVATE -ffreestanding -include ${PROJECT_SOURCE_DIR}/tests/bench/untraced.h)
  pb_image(patchbay-bench-untraced-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/untraced.c ${bench_card} LINKS pb_bench_untraced pb_bench_host)
  target_link_options(patchbay-bench-untraced-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(pb_bench_untraced patchbay-bench-untraced-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  pb_image(patchbay-bench-echo-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench_echo.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_queues.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_saturated.c ${echo} ${bench_card} LINKS pb_bench_host)
  target_link_options(patchbay-bench-echo-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(patchbay-bench-echo-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  pb_image(patchbay-bench-growth-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench_growth.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_queues.c
    ${bench_card} LINKS pb_bench_host)
  target_link_options(patchbay-bench-growth-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(patchbay-bench-growth-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  pb_image(patchbay-bench-marked-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench_marked.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_host.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_lists.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_patch.c ${bench_card} LINKS pb_bench_host)
  target_link_options(patchbay-bench-marked-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(patchbay-bench-marked-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  include(${PROJECT_SOURCE_DIR}/tests/bench/twins.cmake)
  # What hostile clients cost others, on a board that has tests/bench/victim_BOARD.c. The firmware is the board's.
  set(victim_board ${PROJECT_SOURCE_DIR}/tests/bench/victim_${PB_BOARD}.c)
  if(EXISTS ${victim_board})
    pb_image(patchbay-bench-victim-${PB_BOARD}.elf
      SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/victim.c ${PROJECT_SOURCE_DIR}/tests/bench/victim_attacks.c
      ${PROJECT_SOURCE_DIR}/tests/bench/victim_card.c ${PROJECT_SOURCE_DIR}/tests/bench/victim_judge.c ${victim_board}
      ${PROJECT_SOURCE_DIR}/tests/sim/client.c ${PROJECT_SOURCE_DIR}/tests/sim/player.c
      ${PROJECT_SOURCE_DIR}/tests/sim/strategy.c ${PROJECT_SOURCE_DIR}/tests/target/format.c
      ${bench_print} LINKS pb_hal_engine_model)
    target_link_options(patchbay-bench-victim-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=16384)
    set_target_properties(patchbay-bench-victim-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  endif()
endif()
include(${PROJECT_SOURCE_DIR}/tests/bench/loops.cmake)
