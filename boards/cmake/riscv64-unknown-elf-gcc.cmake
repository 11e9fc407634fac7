# boards/cmake/toolchain.cmake includes this. picolibc; images start at the reset of hal/riscv/.
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
# By this version of the manual the names of CSRs belong to the base, as the folders of the C library have it.
add_compile_options(-misa-spec=2.2 --specs=picolibc.specs -fcallgraph-info=su,da)
add_link_options(${PB_CPU_FLAGS} -misa-spec=2.2 -Wl,--entry=pb_riscv_reset)
string(REGEX MATCH "-march=rv[0-9]+[a-z]+_" riscv_base "${PB_CPU_FLAGS}")
if(riscv_base STREQUAL "")
  add_link_options(--specs=picolibc.specs --picolibc-buildtype=release)
else()
  # The libraries have no folder for extensions of several letters: that of the rest is named here.
  string(REGEX REPLACE "(-march=rv[0-9]+[a-z]+)[a-z0-9_]*" "\\1" riscv_base "${PB_CPU_FLAGS}")
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${riscv_base} -misa-spec=2.2 -print-multi-directory
    OUTPUT_VARIABLE riscv_folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${CMAKE_C_COMPILER} ${riscv_base} -print-libgcc-file-name
    OUTPUT_VARIABLE riscv_libgcc OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  cmake_path(GET riscv_libgcc PARENT_PATH riscv_gcc)
  add_link_options(-nostdlib -L${riscv_gcc} -L/usr/lib/picolibc/riscv64-unknown-elf/lib/release/${riscv_folder})
  set(CMAKE_C_STANDARD_LIBRARIES "-Wl,--start-group -lc -lgcc -Wl,--end-group")
endif()
