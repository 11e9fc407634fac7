set(PB_TOOLCHAIN riscv64-unknown-elf-gcc)
set(PB_CPU_FLAGS -march=rv64imac -mabi=lp64 -mcmodel=medany)
set(PB_BOARD_SOURCES boards/qemu_virt.c)
set(PB_BOARD_HAL pb_hal_riscv pb_hal_pci pb_hal_uart_16550 pb_hal_engine)
# What differs from its 32-bit sister is the code alone.
set(PB_BOARD_E2E agree demo fatal faults hang info stops waits)
