# boards/cmake/toolchain.cmake includes this.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET arm-none-eabi)
# Without a frame pointer, as GCC compiles them: R7 is a register like others, of which a burst may write (hal/shared_burst.h).
add_compile_options(-fshort-enums -fomit-frame-pointer
  "SHELL:-isystem /usr/include/newlib/nano" "SHELL:-isystem /usr/include/newlib")
