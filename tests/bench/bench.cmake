# The bench image of a board that has tests/bench/BOARD.c: core, drivers and host library in one program.
set(bench_board ${PROJECT_SOURCE_DIR}/tests/bench/${PB_BOARD}.c)
if(EXISTS ${bench_board})
  pb_library(pb_bench_host SOURCES
    ${PROJECT_SOURCE_DIR}/host/card.c ${PROJECT_SOURCE_DIR}/host/channel.c ${PROJECT_SOURCE_DIR}/host/command.c
    ${PROJECT_SOURCE_DIR}/host/names.c ${PROJECT_SOURCE_DIR}/host/queue.c ${PROJECT_SOURCE_DIR}/host/segment.c)
  pb_image(patchbay-bench-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_card.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_delay.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_number.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_patch.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_schedule.c
    ${bench_board} LINKS pb_bench_host)
  target_link_options(patchbay-bench-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  include(${PROJECT_SOURCE_DIR}/tests/bench/twins.cmake)
endif()
