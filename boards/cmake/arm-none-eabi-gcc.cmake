# boards/cmake/toolchain.cmake includes this. newlib-nano; images start at the reset handler of hal/cortex_m/.
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
add_compile_options(-fcallgraph-info=su,da)
add_link_options(${PB_CPU_FLAGS} --specs=nano.specs -Wl,--entry=pb_cortex_m_reset)
