set(PB_TOOLCHAIN riscv64-unknown-elf-gcc)
# QEMU's CPU has Zba and Zbb unless it is told otherwise.
set(PB_CPU_FLAGS -march=rv32imac_zba_zbb -mabi=ilp32)
set(PB_BOARD_SOURCES boards/qemu_virt.c boards/emulated_card.c)
set(PB_BOARD_HAL pb_hal_riscv pb_hal_pci pb_qemu_uart_16550 pb_hal_engine)
set(PB_BOARD_E2E ON)
# What depends on the MCU: boot, PCI, interrupts, order of stores, protection. scripts/assure runs the others.
set(PB_BOARD_E2E_CI demo fatal hang info protection faults stops waits trace_clock agree replay gl_engine host_files)
# Where the boot code places the windows of card memory and of host memory, which may have 512 MiB.
set(PB_BOARD_DEFINITIONS PB_CARD_MEMORY=0x41000000u PB_CARD_HOST_OFFSET=0x1f000000u PB_CARD_HOST_BYTES=0u
  PB_CARD_COUNTER=0x0200bff8u PB_CARD_COUNTER_HERTZ=10000000u)
