# Firmware that stops with a fatal record, or hangs, in QEMU.
pb_e2e_test(fatal)
pb_e2e_test(hang)
# Accesses that memory protection forbids, the report of a crash, and the trace before it.
pb_e2e_test(protection LINKS pb_firmware_image)
pb_e2e_test(crash)
pb_e2e_test(trace)
if(NOT PB_SANITIZE)
  target_compile_definitions(e2e_crash PRIVATE E2E_SOURCES="${PROJECT_SOURCE_DIR}")
  # A build fails if the stack is too small.
  pb_test(e2e_stack_gate GROUP e2e COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/stack_gate.sh)
endif()
