set(PB_TOOLCHAIN arm-none-eabi-gcc)
set(PB_CPU_FLAGS -mcpu=cortex-m55 -mthumb -mfloat-abi=soft)
set(PB_BOARD_SOURCES boards/cmsdk.c boards/emulated_card.c)
set(PB_BOARD_HAL pb_hal_cortex_m pb_qemu_uart_cmsdk pb_hal_engine)
# Card memory is the start of the DDR4, host memory as much behind it. Outer memory follows: the firmware leaves it alone.
set(PB_BOARD_DEFINITIONS PB_CORTEX_M_INTERRUPTS=96 PB_CORTEX_M_VECTORS=1
  PB_CARD_MEMORY=0x60000000u PB_CARD_HOST_OFFSET=0x1000000u PB_CARD_HOST_BYTES=0x1000000u PB_CARD_OUTER_OFFSET=0x2000000u
  PB_CARD_COUNTER=0x59302018u PB_CARD_COUNTER_HERTZ=20000000u)
set(PB_BOARD_LOOPS hal/cortex_m55)
set(PB_BOARD_E2E demo fatal hang host_memory info outer_memory protection replay trace_clock)
