set(PB_TOOLCHAIN arm-none-eabi-gcc)
set(PB_CPU_FLAGS -mcpu=cortex-m7 -mthumb -mfloat-abi=soft)
set(PB_BOARD_HAL pb_hal_cortex_m pb_hal_engine)
set(PB_BOARD_LOOPS hal/cortex_m)
