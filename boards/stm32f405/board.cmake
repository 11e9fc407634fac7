set(PB_TOOLCHAIN arm-none-eabi-gcc)
# Small before fast: its flash is not an emulator's. The core's floating-point unit stays off.
set(PB_CPU_FLAGS -mcpu=cortex-m4 -mthumb -mfloat-abi=soft -Os)
set(PB_BOARD_HAL pb_hal_cortex_m pb_hal_cortex_m_local pb_hal_stm32f4 pb_hal_engine pb_hal_soft_engine pb_hal_card_admin)
set(PB_BOARD_SOURCES boards/mcu_card.c
  boards/stm32f405/app/local_host.c boards/stm32f405/app/self_test.c boards/stm32f405/app/self_test_work.c)
# 82 interrupts: ST RM0090, table 61.
set(PB_BOARD_DEFINITIONS PB_BOARD_LIMITS_H="boards/stm32f405/limits.h" PB_CORTEX_M_INTERRUPTS=82u)
