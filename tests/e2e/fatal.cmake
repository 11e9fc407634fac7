# Firmware that stops with a fatal record, or hangs, in QEMU.
pb_e2e_test(fatal)
pb_e2e_test(hang)
