# A Cortex-M7; the drivers are those of an emulated card, until there are your own.
set(PB_TOOLCHAIN arm-none-eabi-gcc)
set(PB_CPU_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=soft)
set(PB_BOARD_HAL pb_hal_cortex_m pb_qemu_uart_cmsdk pb_hal_engine)
set(PB_BOARD_DEFINITIONS PB_CORTEX_M_INTERRUPTS=32 PB_BOARD_LIMITS_H="my_board/limits.h")
