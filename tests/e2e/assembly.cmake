# The image with hot loops in assembly, in QEMU.
pb_e2e_test(assembly ASSURE BOARDS ${PB_E2E_ASSEMBLY_BOARDS})
