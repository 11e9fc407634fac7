set(PB_TOOLCHAIN arm-none-eabi-gcc)
set(PB_CPU_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=soft)
set(PB_BOARD_SOURCES boards/cmsdk.c boards/emulated_card.c)
set(PB_BOARD_HAL pb_hal_cortex_m pb_qemu_uart_cmsdk pb_hal_engine)
set(PB_BOARD_LOOPS hal/cortex_m)
set(PB_BOARD_E2E ON)
# Card memory is the PSRAM, which is all that other processors see: its last 3 MiB are host memory.
# The counter is COUNTER of the FPGA's system registers, with its prescaler at 0, as out of reset.
set(PB_BOARD_DEFINITIONS PB_CARD_MEMORY=0x60000000u PB_CARD_HOST_OFFSET=0xd00000u PB_CARD_HOST_BYTES=0x300000u
  PB_CARD_COUNTER=0x40028018u PB_CARD_COUNTER_HERTZ=25000000u)
