# The image whose hot loops are in assembly, in QEMU.
pb_e2e_test(assembly BOARDS ${PB_E2E_ASSEMBLY_BOARDS})
