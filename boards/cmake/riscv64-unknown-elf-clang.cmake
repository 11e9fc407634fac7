# boards/cmake/toolchain.cmake includes this.
set(CMAKE_SYSTEM_PROCESSOR riscv)
set(CMAKE_C_COMPILER clang)
if("${PB_CPU_FLAGS}" MATCHES "rv64")
  set(CMAKE_C_COMPILER_TARGET riscv64-unknown-elf)
else()
  set(CMAKE_C_COMPILER_TARGET riscv32-unknown-elf)
endif()
add_compile_options("SHELL:-isystem /usr/lib/picolibc/riscv64-unknown-elf/include")
