# boards/cmake/toolchain.cmake includes this. picolibc; images start at the reset of hal/riscv/.
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
# By this version of the manual the names of CSRs belong to the base, as the folders of the C library have it.
add_compile_options(-misa-spec=2.2 --specs=picolibc.specs -fcallgraph-info=su,da)
add_link_options(${PB_CPU_FLAGS} -misa-spec=2.2 --specs=picolibc.specs --picolibc-buildtype=release -Wl,--entry=pb_riscv_reset)
