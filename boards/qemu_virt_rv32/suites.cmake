# The unit suites on this board. The heap has what lies above the image, up to the emulator's device tree.
set(PB_SUITES_RUN qemu-system-riscv32 -M virt -m 128M -bios none -display none -serial null -monitor none
  -semihosting-config enable=on,target=native -kernel)
set(PB_SUITES_STACK_BYTES 0x10000)
set(PB_SUITES_MORE_START 0x80800000)
set(PB_SUITES_MORE_BYTES 0x4000000)
