set(PB_TOOLCHAIN riscv64-unknown-elf-gcc)
set(PB_CPU_FLAGS -march=rv64imac -mabi=lp64 -mcmodel=medany)
set(PB_BOARD_SOURCES boards/qemu_virt.c boards/emulated_card.c)
set(PB_BOARD_HAL pb_hal_riscv pb_hal_pci pb_qemu_uart_16550 pb_hal_engine)
# What differs from its 32-bit sister is the code alone.
set(PB_BOARD_E2E agree demo fatal faults hang host_files info stops trace_clock waits)
set(PB_BOARD_E2E_CI demo fatal faults hang host_files info stops trace_clock waits) # scripts/assure compares all that it patches
# Where the boot code places the windows of card memory and of host memory, which may have 512 MiB.
set(PB_BOARD_DEFINITIONS PB_CARD_MEMORY=0x41000000u PB_CARD_HOST_OFFSET=0x1f000000u PB_CARD_HOST_BYTES=0u
  PB_CARD_COUNTER=0x0200bff8u PB_CARD_COUNTER_HERTZ=10000000u)
