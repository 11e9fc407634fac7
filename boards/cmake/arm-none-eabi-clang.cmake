# boards/cmake/toolchain.cmake includes this.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
add_compile_options(-fshort-enums
  "SHELL:-isystem /usr/include/newlib/nano" "SHELL:-isystem /usr/include/newlib")
