# The unit suites on this board: few fit, for a simulated card alone has 16 MiB.
set(PB_SUITES_RUN qemu-system-arm -M netduinoplus2 -display none -serial null -monitor none
  -semihosting-config enable=on,target=native -kernel)
set(PB_SUITES_STACK_BYTES 0x1000)
set(PB_SUITES_EVERYDAY test_abi test_firmware_machines test_host_compact test_host_lift test_paging)
