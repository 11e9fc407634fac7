set(PB_TOOLCHAIN riscv64-unknown-elf-gcc)
set(PB_CPU_FLAGS -march=rv32imac -mabi=ilp32)
set(PB_BOARD_HAL pb_hal_riscv pb_hal_pci pb_hal_uart_16550 pb_hal_engine)
set(PB_BOARD_E2E ON)
