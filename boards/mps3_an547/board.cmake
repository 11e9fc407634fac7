set(PB_TOOLCHAIN arm-none-eabi-gcc)
set(PB_CPU_FLAGS -mcpu=cortex-m55 -mthumb -mfloat-abi=soft)
set(PB_BOARD_HAL pb_hal_cortex_m pb_hal_uart_cmsdk pb_hal_engine)
set(PB_BOARD_DEFINITIONS PB_CORTEX_M_INTERRUPTS=96)
