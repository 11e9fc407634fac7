# The unit suites on this board: the start of the DDR4 serves as heap.
set(PB_SUITES_RUN qemu-system-arm -M mps3-an547 -display none -serial null -monitor none
  -semihosting-config enable=on,target=native -kernel)
set(PB_SUITES_STACK_BYTES 0x10000)
set(PB_SUITES_MORE_START 0x60000000)
set(PB_SUITES_MORE_BYTES 0x4000000)
# All others pass too, but for 23 whose variables are more than the 512 KiB of data memory. A sister runs them all:
# these few are enough for every day.
set(PB_SUITES_ONLY test_abi test_engine_driver test_engine_ring test_firmware_admit test_firmware_control
  test_firmware_machines test_firmware_replies test_firmware_rings test_scenario_schedule test_firmware_segment
  test_host_compact test_host_lift test_paging)
