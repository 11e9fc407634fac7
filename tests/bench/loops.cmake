# The cost of patching alone, on a board that has tests/bench/loops_BOARD.c.
set(bench_board ${PROJECT_SOURCE_DIR}/tests/bench/loops_${PB_BOARD}.c)
if(EXISTS ${bench_board})
  pb_library(pb_bench_host SOURCES
    ${PROJECT_SOURCE_DIR}/host/card.c ${PROJECT_SOURCE_DIR}/host/channel.c ${PROJECT_SOURCE_DIR}/host/command.c
    ${PROJECT_SOURCE_DIR}/host/names.c ${PROJECT_SOURCE_DIR}/host/queue.c ${PROJECT_SOURCE_DIR}/host/segment.c)
  set(bench_print
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_print.c ${PROJECT_SOURCE_DIR}/tests/target/semihost.c
    ${PROJECT_SOURCE_DIR}/tests/target/semihost_${CMAKE_SYSTEM_PROCESSOR}.c)
  pb_image(patchbay-bench-loops-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench_loops.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_card.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_empty.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_host.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_lists.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_patch.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_spans.c
    ${bench_print} ${bench_board} ${bench_cmsdk} LINKS pb_bench_host)
  target_link_options(patchbay-bench-loops-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  include(${PROJECT_SOURCE_DIR}/tests/bench/twins.cmake)
endif()
