# The unit suites on this board: card memory, 16 MiB, serves as heap.
set(PB_SUITES_RUN qemu-system-arm -M mps2-an500 -display none -serial null -monitor none
  -semihosting-config enable=on,target=native -kernel)
set(PB_SUITES_STACK_BYTES 0x40000)
set(PB_SUITES_MORE_START 0x60000000)
set(PB_SUITES_MORE_BYTES 0x1000000)
set(PB_SUITES_ALL ON)
set(PB_SUITES_PER_IMAGE 3)
# Two cards at once; a card with host memory, or with memory outside of the MCU's window.
set(PB_SUITES_TOO_LARGE test_firmware_cookie_random test_firmware_host test_firmware_host_revoke test_firmware_outer
  test_firmware_revocation test_residency_presumed)
