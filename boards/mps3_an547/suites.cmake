# The unit suites on this board: the start of the DDR4 serves as heap.
set(PB_SUITES_RUN qemu-system-arm -M mps3-an547 -display none -serial null -monitor none
  -semihosting-config enable=on,target=native -kernel)
set(PB_SUITES_STACK_BYTES 0x10000)
set(PB_SUITES_MORE_START 0x60000000)
set(PB_SUITES_MORE_BYTES 0x4000000)
