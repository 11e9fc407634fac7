# The loops in assembly against the C files that they replace, which are compiled again under other names.
if(PB_ASSEMBLY)
  pb_library(pb_bench_twins SOURCES
    ${PROJECT_SOURCE_DIR}/firmware/patch/run_compact_64.c ${PROJECT_SOURCE_DIR}/firmware/patch/run_list_64.c
    ${PROJECT_SOURCE_DIR}/firmware/prepare/run_resolve.c)
  target_compile_options(pb_bench_twins PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/bench/twins_slices.h)
  foreach(loop IN ITEMS compact_64 list_64 resolve)
    target_compile_definitions(pb_bench_twins PRIVATE pb_core_run_${loop}=pb_twin_run_${loop})
  endforeach()
  pb_image(patchbay-twins-${PB_BOARD}.elf
    SOURCES ${bench_print} ${PROJECT_SOURCE_DIR}/tests/bench/twins.c ${PROJECT_SOURCE_DIR}/tests/bench/twins_compact.c
    ${PROJECT_SOURCE_DIR}/tests/bench/twins_cursor.c ${PROJECT_SOURCE_DIR}/tests/bench/twins_list.c
    ${PROJECT_SOURCE_DIR}/tests/bench/twins_resolve.c ${bench_board} ${bench_cmsdk} LINKS pb_bench_twins)
  target_compile_options(patchbay-twins-${PB_BOARD}.elf PRIVATE -include ${PROJECT_SOURCE_DIR}/tests/bench/twins_slices.h)
  target_link_options(patchbay-twins-${PB_BOARD}.elf PRIVATE -Wl,--defsym=PB_STACK_BYTES=8192)
  set_target_properties(pb_bench_twins patchbay-twins-${PB_BOARD}.elf PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()
