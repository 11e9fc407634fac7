# CHANGE: the compiler, riscv64-unknown-elf-gcc for RISC-V.
set(PB_TOOLCHAIN arm-none-eabi-gcc)
# CHANGE: the CPU. No floating point: the firmware has none.
set(PB_CPU_FLAGS -mcpu=cortex-m33 -mthumb -mfloat-abi=soft)
# CHANGE: the drivers, targets of hal/CMakeLists.txt.
set(PB_BOARD_HAL pb_hal_cortex_m pb_qemu_uart_cmsdk pb_hal_engine)
# CHANGE: how many external interrupts the CPU has.
set(PB_BOARD_DEFINITIONS PB_CORTEX_M_INTERRUPTS=64 PB_BOARD_LIMITS_H="boards/template/limits.h")
