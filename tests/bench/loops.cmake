# The cost of patching alone, on a board that has tests/bench/loops_BOARD.c.
# tests/bench/bench.cmake includes this.
if(EXISTS ${loops_board})
  set(bench_board ${loops_board})
  pb_image(patchbay-bench-loops-${PB_BOARD}.elf
    SOURCES ${PROJECT_SOURCE_DIR}/tests/bench/bench_loops.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_card.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_empty.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_host.c
    ${PROJECT_SOURCE_DIR}/tests/bench/bench_lists.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_patch.c ${PROJECT_SOURCE_DIR}/tests/bench/bench_spans.c
    ${bench_print} ${bench_board} ${bench_cmsdk} LINKS pb_bench_host)
  target_link_options(patchbay-bench-loops-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(patchbay-bench-loops-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
  include(${PROJECT_SOURCE_DIR}/tests/bench/twins.cmake)
endif()
